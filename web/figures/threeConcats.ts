// Figure "Three ways to concatenate": added scores beside those of raw, fully weighted and block-diagonal
// concatenation, on the same tokens; and for each way to build them, what a model of some shape then costs.
import { type Cost, logitsOf, type Scores, type Superpose, termOf } from 'superpose';
import { aboutPercent, exponent, percent, readable, signed } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { type Area, bars, colourKey, largestMagnitude, map, textAt } from '../plot/parts.js';
import type { Mark, Region } from '../plot/scene.js';
import type { Compute, Figure, Library, ReadoutPiece } from './figure.js';
import { queryAndKey } from './pairs.js';
import { fetching, wordsWhen } from './sentence.js';
import { termLabels } from './terms.js';
import { costMarks, costsOf, ratio, short, times } from './threeConcatsCosts.js';
import {
  at,
  builds,
  type Data,
  fromModel,
  keyText,
  measures,
  parts,
  type SplitScore,
  seeded,
  sideBySide,
  terms,
  ways,
} from './threeConcatsScores.js';
import { controls, type Rows, type Shape, type State, shapes } from './threeConcatsSettings.js';

const isOf = (shape: Shape, state: State) =>
  (Object.keys(shape) as (keyof Shape)[]).every((name) => shape[name] === state[name]);

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const { tokens, n, d, text, d_head, seed, tied } = state;
  const key = [tokens, ...(tokens === 'seeded' ? [n, d] : [text]), d_head, seed, tied];
  // A model's shape moves only what it costs.
  const scores = await library.kept('three-concats', key, () => scoresOf(library, superpose, state));
  return { ...scores, costs: costsOf(superpose, state) };
};

async function scoresOf(library: Library, superpose: Superpose, state: State): Promise<Omit<Data, 'costs'>> {
  const { tokens, dropped, token, position } =
    state.tokens === 'seeded' ? seeded(superpose, state) : await fromModel(library, state);
  const { d_head, seed, tied } = state;
  const d = token.columns;
  const draw = (stream: number) =>
    superpose.randomNormal({
      rows: d_head,
      columns: d,
      seed,
      stream,
      standardDeviation: 'fan_in',
    });
  // W_Q and W_K of the token, W_Q and W_K of the position.
  const [query, key, positionQuery, positionKey] = [draw(1), draw(2), draw(3), draw(4)];
  const given = { token, position, heads: 1 };
  const full = (secondQuery: Rows, secondKey: Rows) =>
    superpose.concatenateFull({
      ...given,
      query: { weight: sideBySide(query, secondQuery) },
      key: { weight: sideBySide(key, secondKey) },
    });
  const added = superpose.decompose({
    summands: { token, position },
    query: { weight: query },
    key: { weight: key },
    heads: 1,
    // Without LayerNorm and biases the constant is zero.
    groups: { token: ['token', 'constant'], position: ['position'] },
  });
  const tiedFull = full(query, key);
  const scores: Scores<Float64Array>[] = [
    added,
    superpose.concatenateRaw({ token, position }),
    tied === 'yes' ? tiedFull : full(positionQuery, positionKey),
    superpose.concatenateBlockDiagonal({
      ...given,
      tokenQuery: query,
      tokenKey: key,
      positionQuery,
      positionKey,
    }),
  ];
  const n = token.rows;
  const shapes = { n, d_token: d, d_position: d };
  const most = superpose.scoreRanks({ ...shapes, d_head, d_position_head: d_head });
  // A dot product is a score whose heads are as wide as the tables.
  const { untied: mostRaw } = superpose.scoreRanks({ ...shapes, d_head: d, d_position_head: d });
  const mostRanks = [most.added, mostRaw, most.concatenated, most.untied];
  return {
    tokens,
    dropped,
    n,
    ways: scores.map((one, way) => {
      const logits = logitsOf(one, 0);
      const found = parts.flatMap((query) => parts.map((key) => termOf(one, 0, query, key).slice()));
      return {
        logits: logits.slice(),
        terms: found,
        shares: Array.from(one.shares),
        cross: largestMagnitude(found.slice(1, 3)),
        crossShare: superpose.combineTerms(one, 0, [false, true, true, false]).share,
        residual: one.residuals[0] as number,
        rank: superpose.numericalRank({ data: logits, rows: n, columns: n }),
        mostRank: mostRanks[way] as number,
      };
    }),
    tiedGap: superpose.largestDifference(logitsOf(tiedFull, 0), logitsOf(added, 0)),
  };
}

export const figure: Figure<typeof controls, Data> = {
  name: 'three-concats',
  title: 'Three ways to concatenate: what meets, and what it costs',
  controls,
  source: ({ tokens }) => (tokens === 'seeded' ? 'seeded' : 'mixed'),
  waiting: fetching,
  unused: ({ tokens }) => (tokens === 'seeded' ? ['text'] : ['n', 'd']),

  /** A named shape sets the numbers; another number makes the shape the reader's own. */
  settle(state, changed) {
    const shape = shapes[state.model];
    let settled: State = state;
    if (shape && !isOf(shape, state)) {
      // A link may name a shape and leave its numbers out.
      const named = changed === 'model' || (changed === undefined && isOf(shapes.bert as Shape, state));
      settled = named ? { ...state, ...shape } : { ...state, model: 'own' };
    }
    // No more tokens at once than there are positions.
    return settled.context > settled.positions ? { ...settled, context: settled.positions } : settled;
  },

  scene(data, { heads }, width) {
    const { ways: found, n } = data;
    const { panels, height: top, narrow } = arrange(width);
    const shares = found.flatMap((way) => way.shares).filter(Number.isFinite);
    const [low, high] = [Math.min(0, ...shares), Math.max(1, ...shares)];
    const marks: Mark[] = [];
    const regions: Region[] = [];
    ways.forEach(({ title, formula, unit }, place) => {
      const way = found[place] as SplitScore;
      const panel = panels[place] as Panel;
      const limit = largestMagnitude([way.logits]) || 1;
      const scale = { low: -limit, high: limit, scale: 'diverging' } as const;
      const drawn = map(panel.map, { values: way.logits, rows: n, columns: n, ...scale });
      const { x, y, width: wide, height: tall } = panel.shares;
      marks.push(
        textAt(panel.title.x, panel.title.y, title, { ink: 'ink', size: 14, bold: true }),
        textAt(panel.title.x, panel.title.y + 17, formula, { size: 11.5 }),
        ...drawn.marks,
        ...colourKey(panel.key.x, panel.key.y, { ...scale, label: narrow ? '' : unit, print: keyText }),
        ...bars(
          panel.shares,
          terms.map(({ label, term }, row) => ({
            label,
            value: at(way.shares, row),
            text: percent(at(way.shares, row)),
            ink: term,
            term,
          })),
          low,
          high,
        ),
        // A frame around the two cross terms.
        {
          mark: 'box',
          x: x - 3,
          y: y + tall / 4,
          width: wide + 3,
          height: tall / 2,
          stroke: 'ink',
          wide: 1.5,
        },
        textAt(panel.rank.x, panel.rank.y, `rank ${way.rank}, at most ${way.mostRank}`, { ink: 'ink' }),
      );
      regions.push(drawn.region);
    });
    const costs = costMarks(data, heads, top + 14, width);
    marks.push(...costs.marks);
    return { width, height: costs.height, marks, regions };
  },

  describe(data, { d_position, heads }) {
    const { ways: found, tiedGap } = data;
    const [added, raw, full, blocks] = found as [SplitScore, SplitScore, SplitScore, SplitScore];
    const cross = ({ crossShare }: SplitScore) => aboutPercent(crossShare);
    const none = [raw, blocks].every((way) => way.cross === 0)
      ? 'every cross term is exactly 0'
      : `cross terms reach ${exponent(Math.max(raw.cross, blocks.cross))}`;
    const wide = data.costs[1] as Cost;
    const odd = wide.headsDivide ? '' : `, which ${heads} heads do not divide`;
    const head = full.cross > 0 ? 'With full weights, concatenating keeps the cross terms. ' : '';
    return `${head}In the raw gauge, the cross terms make up ${cross(added)} of the variation in the added scores, and ${cross(full)} with full weights on [x; p]. Concatenated raw or with block-diagonal weights, ${none}. Full weights with W₂\u00a0=\u00a0W₁ give the added scores ${howExactly(tiedGap)}. With ${d_position} more channels for the position the stream is ${wide.width} wide${odd}, and the model takes ${short(wide.total)}, ${times(ratio(wide, data, 'total'))}.`;
  },

  cells: ({ n }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }) => ({ i: Math.min(3, n - 1), j: Math.min(9, n - 1) }),

  readout({ ways: found, n, tokens }, _, { i, j }) {
    const cell = i * n + j;
    const pieces = found.flatMap((way, place): ReadoutPiece[] => [
      place === 0 ? '' : '; ',
      { text: ways[place]?.name ?? '', strong: true },
      ` ${readable(at(way.logits, cell))}`,
      ...(way.cross === 0
        ? [', no cross terms']
        : [
            ' with cross terms ',
            { text: signed(at(way.terms[1] ?? [], cell)), term: 'token-position' as const },
            ' ',
            { text: signed(at(way.terms[2] ?? [], cell)), term: 'position-token' as const },
          ]),
    ]);
    return [...queryAndKey(tokens, { i, j }), ...pieces, '.'];
  },

  ...wordsWhen<State>(({ tokens }) => tokens === 'sentence'),

  table(data) {
    const { ways: found, n, tokens, tiedGap } = data;
    const rows: (string | number)[][] = [];
    const blank = ['', '', ''];
    const summary = (label: string, of: (way: SplitScore) => (string | number)[]) =>
      rows.push([label, '', ...found.flatMap(of)]);
    summary('share of the variation, raw gauge', (way) => ['', ...way.shares]);
    summary('largest |sum of the terms − score|', (way) => [way.residual, '', ...blank]);
    summary('full with W₂ = W₁ less added, the largest', (way) => [
      way === found[2] ? tiedGap : '',
      '',
      ...blank,
    ]);
    summary('rank, and the most it can be', (way) => [way.rank, way.mostRank, ...blank]);
    for (let cell = 0; cell < n * n; cell++) {
      const [i, j] = [Math.floor(cell / n), cell % n];
      rows.push([
        `${i} ${tokens[i]}`,
        `${j} ${tokens[j]}`,
        ...found.flatMap((way) => [at(way.logits, cell), ...way.terms.map((term) => at(term, cell))]),
      ]);
    }
    const costly = [
      ['stream width', ({ width }: Cost) => width],
      ['heads divide it', ({ headsDivide }: Cost) => (headsDivide ? 'yes' : 'no')],
      ['tables', ({ tables }: Cost) => tables],
      ['map back', ({ projection }: Cost) => projection],
      ['a layer', ({ layer }: Cost) => layer],
    ] as const;
    const columns = 2 + 5 * ways.length;
    const add = (...row: (string | number)[]) =>
      rows.push([...row, ...Array.from({ length: columns - row.length }, () => '')]);
    builds.forEach(({ label }, place) => {
      const cost = data.costs[place];
      if (!cost) add(label, 'no room');
      else {
        for (const [what, of] of costly) add(label, what, of(cost));
        for (const { name, unit } of measures) add(label, unit, cost[name], ratio(cost, data, name));
      }
    });
    return {
      columns: [
        'query, or way',
        'key, or what is counted',
        ...ways.flatMap(({ name }, place) => [
          place === 0 ? `${name}, or how many` : name,
          ...terms.map(
            ({ term }, number) =>
              `${name}: ${termLabels[term]}${place + number === 0 ? ', or times adding' : ''}`,
          ),
        ]),
      ],
      rows,
    };
  },
};

interface Panel {
  title: { x: number; y: number };
  shares: Area;
  rank: { x: number; y: number };
  map: Area;
  key: { x: number; y: number };
}

/** Four columns, shares above maps; or, where they would be narrow, each map beside its shares. */
function arrange(width: number): { panels: Panel[]; height: number; narrow: boolean } {
  const gap = 22;
  const column = (width - 3 * gap) / 4;
  const titled = 38;
  if (column >= 190) {
    const shares = 4 * 20;
    const top = titled + shares + 38;
    const size = Math.min(column, 160);
    const panels = ways.map((_, place): Panel => {
      const x = place * (column + gap);
      return {
        title: { x, y: 14 },
        shares: { x: x + 3, y: titled, width: column - 3, height: shares },
        rank: { x, y: titled + shares + 20 },
        map: { x, y: top, width: size, height: size },
        key: { x, y: top + size + 10 },
      };
    });
    return { panels, height: top + size + 44, narrow: false };
  }
  const size = Math.min(240, Math.round(0.42 * width));
  const step = titled + Math.max(size, 150) + 24;
  const panels = ways.map((_, place): Panel => {
    const y = place * step;
    const x = width - size;
    return {
      title: { x: 0, y: y + 14 },
      shares: { x: 3, y: y + titled, width: x - 19, height: 4 * 22 },
      rank: { x: 0, y: y + titled + 4 * 22 + 20 },
      map: { x, y: y + titled, width: size, height: size },
      key: { x: 0, y: y + titled + 4 * 22 + 32 },
    };
  });
  return { panels, height: ways.length * step, narrow: width < 560 };
}
