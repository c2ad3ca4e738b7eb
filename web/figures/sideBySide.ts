// Figure of models that the reader opened, side by side: in which layers and heads scores read positions, and by what.
import type { PositionMechanism } from 'superpose';
import { aboutPercent, percent } from '../plot/format.js';
import { colourKey, map, multiples, titleHeight } from '../plot/parts.js';
import type { Mark, Region, Term } from '../plot/scene.js';
import type { Control } from './controls.js';
import type { AnyFigure, ReadoutPiece } from './figure.js';
import { listed } from './lists.js';
import { nothingToShare } from './sentence.js';
import { termLabels, terms } from './terms.js';

/** What was found of a model; it stays when the model is let go. */
export interface Side {
  digest: string;
  name: string;
  mechanisms: readonly PositionMechanism[];
  /** Of its scores, which are split before it; undefined for none. */
  cap: number | undefined;
  /** The text, or the ids, that its scores are of. */
  text: string;
  tokens: number;
  /** Of the corpus, over which queries and keys are averaged. */
  windows: number;
  /** [layers][heads][6], the five kinds of term; how much of the first is token → token by the distance. */
  heads: number[][][];
  /** [layers][6], of the average head. */
  mean: number[][];
}

export interface Sides {
  /** In the order in which they were opened. */
  sides: Side[];
  dropped: number;
}

type State = { file: string; others?: readonly string[] };

export const mechanismNames: Readonly<Record<PositionMechanism, string>> = {
  table: 'added table',
  angles: 'RoPE',
  slopes: 'ALiBi',
  bias: 'T5’s bias',
  rows: 'rows for distances',
};

export const mechanismOf = ({ mechanisms }: Pick<Side, 'mechanisms'>): string =>
  mechanisms.map((one) => mechanismNames[one] ?? one).join(' + ');

/** Of all five kinds, those in which a place asks or is asked about. */
const reading = ['token-position', 'position-token', 'position-position'] as const satisfies Term[];
const read = (shares: readonly number[]) =>
  reading.reduce((sum, term) => sum + (shares[terms.indexOf(term)] as number), 0);

const shownOf = ({ sides }: Sides, { file, others = [] }: State) =>
  sides.filter(({ digest }) => digest === file || others.includes(digest));

/** The layer whose average head reads positions most. */
function mostOf({ mean }: Side): number {
  const all = mean.map(read);
  return all.indexOf(Math.max(...all));
}

/** The side and the head that a column of the cursor stands for. */
function at(sides: readonly Side[], column: number): { side: Side; head: number } | undefined {
  let head = column;
  for (const side of sides) {
    const count = side.heads[0]?.length ?? 0;
    if (head < count) return { side, head };
    head -= count;
  }
  return undefined;
}

const [left, right, meanWide] = [20, 26, 12];

function arrange(sides: readonly Side[], width: number) {
  // One alone is half as wide as the picture.
  const grid = multiples(width, width < 340 ? width : 156, Math.max(2, Math.min(4, sides.length)), 22);
  const titled = titleHeight(true) + 6;
  const deepest = Math.max(...sides.map(({ heads }) => heads.length));
  const row = Math.max(6, Math.min(26, 300 / deepest));
  const rows = sides.map((_, place) => grid.at(place).row);
  /** The top of each row of panels. */
  const tops: number[] = [0];
  for (let one = 0; one <= Math.max(...rows); one++) {
    const layers = Math.max(
      ...sides.filter((_, place) => rows[place] === one).map(({ heads }) => heads.length),
    );
    tops.push((tops[one] as number) + titled + row * layers + 34);
  }
  return { grid, titled, row, tops, key: tops.at(-1) as number };
}

/** Models side by side; the names of others whose findings were kept are by their digests. */
export function sideBySide(
  input: Record<string, Control>,
  kept: Readonly<Record<string, string>>,
): AnyFigure {
  const names = Object.keys(kept);
  const controls: Record<string, Control> = {
    ...(names.length > 0 && {
      others: { kind: 'several', label: 'Beside it', options: kept, initial: names },
    }),
    ...input,
  };
  return {
    name: 'own-side-by-side',
    title: 'Models side by side: which layers look at positions',
    controls,
    source: () => 'trained',
    waiting: 'Running all layers…',

    scene(data: Sides, state: State, width) {
      const sides = shownOf(data, state);
      const { grid, titled, row, tops, key } = arrange(sides, width);
      const marks: Mark[] = [];
      const points = { x: [], y: [], cursors: [], boxes: [] } as {
        x: number[];
        y: number[];
        cursors: { i: number; j: number }[];
        boxes: { width: number; height: number }[];
      };
      let before = 0;
      sides.forEach((side, place) => {
        const { x, row: line } = grid.at(place);
        const top = tops[line] as number;
        const [layers, heads] = [side.heads.length, side.heads[0]?.length ?? 0];
        const inner = { x: x + left, y: top + titled, width: grid.width - left - right - meanWide - 6 };
        const height = row * layers;
        const cells = { rows: layers, low: 0, high: 1, scale: 'sequential' } as const;
        marks.push(
          { mark: 'text', x, y: top + 13, text: side.name, ink: 'ink', size: 14, bold: true },
          { mark: 'text', x, y: top + 29, text: mechanismOf(side), ink: 'ink' },
          ...map({ ...inner, height }, { ...cells, values: side.heads.flat().map(read), columns: heads })
            .marks,
        );
        const mean = side.mean.map(read);
        const beside = inner.x + inner.width + 6;
        marks.push(
          ...map({ ...inner, x: beside, width: meanWide, height }, { ...cells, values: mean, columns: 1 })
            .marks,
          { mark: 'text', x: inner.x, y: inner.y + height + 16, text: `${heads} heads`, ink: 'quiet' },
          {
            mark: 'text',
            x: x + grid.width,
            y: inner.y + height + 16,
            text: 'mean, %',
            anchor: 'end',
            ink: 'quiet',
          },
        );
        const every = Math.ceil(13 / row);
        mean.forEach((share, layer) => {
          const y = inner.y + (layer + 0.5) * row + 4;
          for (let head = 0; head < heads; head++) {
            const wide = inner.width / heads;
            points.x.push(inner.x + (head + 0.5) * wide);
            points.y.push(inner.y + (layer + 0.5) * row);
            points.cursors.push({ i: layer, j: before + head });
            points.boxes.push({ width: wide, height: row });
          }
          if (layer % every > 0) return;
          marks.push({ mark: 'text', x: inner.x - 4, y, text: String(layer), anchor: 'end', ink: 'quiet' });
          if (Number.isFinite(share))
            marks.push({
              mark: 'text',
              x: x + grid.width,
              y,
              text: String(Math.round(100 * share)).replace('-', '−'),
              anchor: 'end',
              ink: 'ink',
            });
        });
        before += heads;
      });
      marks.push(
        ...colourKey(0, key, {
          low: 0,
          high: 1,
          scale: 'sequential',
          label: width < 420 ? 'reads position' : 'of what scores vary by reads position',
          print: (share) => `${100 * share} %`,
        }),
      );
      const region: Region = { x: 0, y: 0, width, height: key, pick: { points }, rows: 1, columns: 1 };
      return { width, height: key + 30, marks, regions: [region] };
    },

    describe(data: Sides, state: State) {
      const sides = shownOf(data, state);
      const found = sides.filter(({ mean }) => mean.map(read).some(Number.isFinite));
      if (found.length === 0) return nothingToShare({ gauge: 'corpus-mean' }, sides[0]?.tokens ?? 0);
      const most = found.map((side) => `layer ${mostOf(side)} of ${side.name}`);
      const each = found.map((side) => {
        const shares = side.mean.map(read);
        // The first, that which reads most, and the last.
        const layers = [...new Set([0, mostOf(side), shares.length - 1])];
        const told = layers.map((layer) => `${aboutPercent(shares[layer] as number)} in layer ${layer}`);
        return `${side.name} (${mechanismOf(side)}) ${listed(told)}`;
      });
      return `Positions are read most in ${listed(most)}. Of what the average head’s scores vary by over keys, terms with a position in them make up: ${each.join('; ')}. They are token → position, position → token and position → position, by mechanism; the gauge is each model’s means of queries and keys over a corpus.`;
    },

    cells(data: Sides, state: State) {
      const sides = shownOf(data, state);
      return {
        rows: Math.max(...sides.map(({ heads }) => heads.length)),
        columns: sides.reduce((sum, { heads }) => sum + (heads[0]?.length ?? 0), 0),
      };
    },

    readout(data: Sides, state: State, { i, j }) {
      const found = at(shownOf(data, state), j);
      const shares = found?.side.heads[i]?.[found.head];
      if (!found || !shares) return ['There is no such layer in this model.'];
      return [
        { text: `${found.side.name}, layer ${i}, head ${found.head}`, strong: true },
        `: reads position ${percent(read(shares))}: `,
        ...terms.flatMap((term, kind): ReadoutPiece[] => [
          { text: `${termLabels[term]} ${percent(shares[kind] as number)}`, term },
          ', ',
        ]),
        `of which token → token by the distance ${percent(shares[5] as number)}.`,
      ];
    },

    remark({ sides, dropped }: Sides, state: State) {
      const own = sides.find(({ digest }) => digest === state.file);
      const other = shownOf({ sides, dropped }, state).filter(({ text }) => text !== own?.text);
      const cut = dropped > 0 ? `The first tokens are read; ${dropped} more are left out. ` : '';
      const said =
        other.length > 0
          ? `${listed(other.map(({ name, text }) => `${name} was asked about “${text.length > 60 ? `${text.slice(0, 59)}…` : text}”`))}. `
          : '';
      const capped = shownOf({ sides, dropped }, state).filter(({ cap }) => cap);
      const before = capped.map(({ name, cap }) => `Scores of ${name} are split before their cap, ${cap}. `);
      const one = sides.length > 1 ? '' : 'Open another model, and it stands beside this one. ';
      return `${cut}${said}${before.join('')}${one}Token → token by the distance counts as token → token. Files were not verified against a reference.`;
    },

    table: (data: Sides, state: State) => ({
      columns: [
        'model',
        'mechanism',
        'layer',
        'head',
        'reads position',
        ...terms.map((term) => termLabels[term]),
        'of which by the distance',
        'text',
        'windows',
      ],
      rows: shownOf(data, state).flatMap((side) =>
        side.heads.flatMap((heads, layer) =>
          [...heads, side.mean[layer] as number[]].map((shares, head) => [
            side.name,
            mechanismOf(side),
            layer,
            head < heads.length ? head : 'mean',
            read(shares),
            ...shares,
            side.text,
            side.windows,
          ]),
        ),
      ),
    }),
  };
}
