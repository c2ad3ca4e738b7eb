// Figure "Another scheme beside Added, on the same tokens": large maps of the scores of the chosen scheme and
// of added positions.
import type { SchemeInfo } from 'add-or-concatenate';
import { aboutPercent, percent, readable } from '../plot/format.js';
import { colourKey, edges, map, textAt, titleHeight, wrapped } from '../plot/parts.js';
import type { Mark, Region, Span } from '../plot/scene.js';
import { sizes } from '../plot/sizes.js';
import type { StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';
import { formulaLines } from './formula.js';
import { aboutMean, dependsOn } from './schemesPicture.js';
import {
  controls as controlsOfAll,
  type Data as DataOfAll,
  positionWidths,
  scoresOfAll,
  shape,
} from './schemesScores.js';
import { kinds } from './schemeTexts.js';

const { scheme, words, causal, seed } = controlsOfAll;
const controls = {
  scheme: { ...scheme, label: 'Beside Added', initial: 'rope' },
  words,
  causal,
  seed,
} as const;

type State = StateOf<typeof controls>;
type Id = State['scheme'];

/** A scheme’s scores for the same tokens, its formula, and how many parameters it adds to a model. */
interface Side extends Pick<DataOfAll['schemes'][Id], 'logits' | 'softmax'> {
  id: Id;
  name: string;
  tex: string;
  parameters: number;
}

interface Data {
  n: number;
  /** Added, and the chosen scheme. */
  sides: [Side, Side];
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const registry = library.memoize('schemes: registry', '', () => superpose.schemeRegistry());
  const computed = scoresOfAll(library, superpose, registry, { ...state, common: false });
  const side = (id: Id): Side => {
    const { name, formula, bidirectionalFormula, clip } = registry.find(
      (entry) => entry.id === id,
    ) as SchemeInfo;
    const { logits, softmax } = computed[id].shown;
    const tex = (!state.causal && bidirectionalFormula) || formula;
    const parameters = superpose.schemeParameters(id, {
      ...shape,
      clip,
      d_position: positionWidths[id] ?? shape.d_model,
      d_position_head: shape.d_head,
    });
    return { id, name, tex, parameters, logits, softmax };
  };
  return { n: Math.sqrt(computed.add.shown.logits.values.length), sides: [side('add'), side(state.scheme)] };
};

const edge = 22;

interface Line {
  x: number;
  y: number;
  text: string;
  spans?: Span[] | undefined;
  bold?: true;
}

const lineHeight = 23;

/**
 * The places of the two maps, side by side, and of the text about each: below its map or, on a narrow page,
 * below both maps.
 */
function arrange({ sides }: Data, width: number) {
  const gap = width < 660 ? 14 : 36;
  const panel = (width - gap) / 2;
  const narrow = panel < 300;
  const room = narrow ? width : panel;
  const side = Math.min(panel - edge, 360);
  const mapEnd = titleHeight(true) + side + edge;
  const lines: Line[] = [];
  for (const [place, { id, tex, name }] of sides.entries()) {
    const x = narrow ? 0 : place * (panel + gap);
    const top = narrow && place > 0 ? (lines.at(-1)?.y ?? 0) + 8 : mapEnd;
    const own: Omit<Line, 'x' | 'y'>[] = [
      ...(narrow ? [{ text: name, bold: true as const }] : []),
      ...formulaLines(tex, Math.floor(room / 9)),
      ...wrapped(kinds[id].says, room, 7.5).map((text) => ({ text })),
    ];
    lines.push(...own.map((line, row) => ({ ...line, x, y: top + lineHeight * (row + 1) })));
  }
  const keyY = Math.max(...lines.map(({ y }) => y)) + 16;
  return { narrow, side, lines, keyY, height: keyY + 30, x: (place: number) => place * (panel + gap) + edge };
}

export const figure: Figure<typeof controls, Data> = {
  name: 'beside-added',
  title: 'Another scheme beside Added, on the same tokens',
  controls,
  source: () => 'seeded',

  scene(data, _, width) {
    const { n, sides } = data;
    const { narrow, side, lines, keyY, height, x: leftOf } = arrange(data, width);
    const marks: Mark[] = lines.map(({ x, y, text, spans, bold }) =>
      textAt(x, y, text, {
        ink: 'ink',
        size: spans ? sizes.text : sizes.label,
        ...(spans && { spans }),
        ...(bold && { bold }),
      }),
    );
    const regions: Region[] = [];
    for (const [place, { id, name, logits }] of sides.entries()) {
      const x = leftOf(place);
      const { marks: drawn, region } = map(
        { x, y: 0, width: side, height: titleHeight(true) + side },
        {
          values: logits.values,
          ...aboutMean(logits, logits.depends === 'nothing' ? 1 : logits.limit),
          rows: n,
          columns: n,
          title: narrow ? kinds[id].label : name,
          subtitle: dependsOn(logits),
        },
      );
      marks.push(...drawn, ...edges(region));
      regions.push(region);
    }
    marks.push(
      ...colourKey(0, keyY, {
        low: -1,
        high: 1,
        scale: 'diverging',
        label: 'each by itself',
        print: (value) => (value < 0 ? 'lowest' : value > 0 ? 'highest' : 'mean'),
      }),
    );
    return { width, height, marks, regions };
  },

  describe({ n, sides }, { words }) {
    const depends = ({ logits }: Side) =>
      ({
        nothing: 'the scores do not vary.',
        places: `the offset explains ${aboutPercent(logits.offsets.share)} of the variation.`,
        offset: 'for the same two tokens only the offset matters.',
      })[logits.depends];
    const [added, chosen] = sides;
    const tokens =
      words === 'same'
        ? `With one token in all ${n} positions, every difference comes from position.`
        : `With ${n} different tokens, scores vary with the tokens too.`;
    const count = (parameters: number) => (parameters === 0 ? 'no' : parameters.toLocaleString('en'));
    return `${chosen.name}: ${depends(chosen)} Added: ${depends(added)} ${tokens} ${chosen.name} adds ${count(chosen.parameters)} parameters to a model of BERT-base’s shape, adding ${count(added.parameters)}.`;
  },

  cells: ({ n }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }) => ({ i: Math.min(6, n - 1), j: Math.min(4, n - 1) }),

  readout: ({ n, sides }, _, { i, j }) => [
    `Query ${i}, key ${j}: `,
    sides
      .map(({ name, logits, softmax }) => {
        const cell = i * n + j;
        return `${name}: score ${readable(logits.values[cell] as number)}, softmax ${percent(softmax[cell] as number)}`;
      })
      .join('; '),
    '.',
  ],

  table: ({ n, sides }) => ({
    columns: ['query', 'key', ...sides.flatMap(({ name }) => [`score: ${name}`, `softmax: ${name}`])],
    rows: Array.from({ length: n * n }, (_, cell) => [
      Math.floor(cell / n),
      cell % n,
      ...sides.flatMap(({ logits, softmax }) => [logits.values[cell] as number, softmax[cell] as number]),
    ]),
  }),
};
