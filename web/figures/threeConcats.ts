// Figure "Three ways to concatenate": added scores beside those of raw, fully weighted and block-diagonal
// concatenation, on the same tokens.
import { logitsOf, type Scores, type Superpose, type Table, termOf } from 'superpose';
import { aboutPercent, exponent, percent, readable, signed } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { type Area, bars, colourKey, largestMagnitude, map, tickText } from '../plot/parts.js';
import type { Mark, Region, Term } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Library, Said } from './figure.js';
import { queryAndKey } from './pairs.js';
import { fetching, sentenceControl, tokensControl, wordsWhen } from './sentence.js';

const controls = {
  // The options are `yes` and `no` because links have said so since this was a check box.
  tied: {
    kind: 'choice',
    label: 'Full weights of the position, W₂',
    options: { no: 'its own', yes: 'W₂ = W₁: adds' },
    initial: 'no',
    radio: true,
  },
  tokens: { ...tokensControl, label: 'Tokens; weights are random' },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 24 },
  d: { kind: 'steps', more: true, label: 'Width d', values: [2, 4, 8, 16, 32, 64, 128, 256], initial: 64 },
  d_head: { kind: 'steps', more: true, label: 'Head width', values: [1, 2, 4, 8, 16, 32, 64], initial: 8 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  text: sentenceControl,
} as const satisfies Controls;

type State = StateOf<typeof controls>;
type Rows = Table<Float64Array>;

export interface Way {
  logits: Float64Array;
  /** The four terms, in the order of `terms`. */
  terms: Float64Array[];
  shares: number[];
  /** The largest |term| among the two cross terms. */
  cross: number;
  /** Their share together. */
  crossShare: number;
  /** The largest |sum of the terms − logit|. */
  residual: number;
  rank: number;
  /** The largest rank that any weights of these shapes can give. */
  mostRank: number;
}

export interface Data {
  tokens: readonly string[];
  dropped: number;
  n: number;
  /** In the order of `ways`. */
  ways: Way[];
  /** The largest difference between full weights with W₂ = W₁ and adding. */
  tiedGap: number;
}

const ways = [
  { name: 'added', title: 'Added', formula: '(x + p)ᵀW(x′ + p′)', unit: 'logit' },
  { name: 'raw', title: 'Raw', formula: '[x; p] · [x′; p′]', unit: 'dot product' },
  { name: 'full', title: 'Full weights', formula: '[x; p]ᵀW[x′; p′]', unit: 'logit' },
  { name: 'block-diagonal', title: 'Block-diagonal', formula: 'xᵀW₁x′ + pᵀW₂p′', unit: 'logit' },
] as const;

const terms: { label: string; query: 'token' | 'position'; key: 'token' | 'position'; term: Term }[] = [
  { label: 'x → x′', query: 'token', key: 'token', term: 'token-token' },
  { label: 'x → p′', query: 'token', key: 'position', term: 'token-position' },
  { label: 'p → x′', query: 'position', key: 'token', term: 'position-token' },
  { label: 'p → p′', query: 'position', key: 'position', term: 'position-position' },
];

const longestSentence = 64;

/** Short enough to stand on either side of zero under the key. */
const keyText = (value: number) => tickText(Number(value.toPrecision(3)));

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
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
      const found = terms.map((term) => termOf(one, 0, term.query, term.key).slice());
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
};

const at = (values: ArrayLike<number>, place: number) => values[place] ?? Number.NaN;

/** [A B] */
function sideBySide(left: Rows, right: Rows): Rows {
  const columns = left.columns + right.columns;
  const data = new Float64Array(left.rows * columns);
  for (let row = 0; row < left.rows; row++) {
    data.set(left.data.subarray(row * left.columns, (row + 1) * left.columns), row * columns);
    data.set(
      right.data.subarray(row * right.columns, (row + 1) * right.columns),
      row * columns + left.columns,
    );
  }
  return { data, rows: left.rows, columns };
}

function seeded(superpose: Superpose, { n, d, seed }: State) {
  return {
    tokens: Array.from({ length: n }, (_, place) => `token ${place}`),
    dropped: 0,
    token: superpose.randomNormal({ rows: n, columns: d, seed }),
    position: superpose.sinusoidal({ positions: n, d_model: d }),
  };
}

async function fromModel(library: Library, { text }: State) {
  const model = await library.miniLM();
  const sentence = model.tokenize(text, longestSentence);
  const { token, position } = await model.summands(sentence);
  return { tokens: sentence.tokens, dropped: sentence.dropped, token, position };
}

export const figure: Figure<typeof controls, Data> = {
  name: 'three-concats',
  title: 'Adding, and three ways to concatenate, on the same tokens',
  controls,
  source: ({ tokens }) => (tokens === 'seeded' ? 'seeded' : 'mixed'),
  waiting: fetching,
  unused: ({ tokens }) => (tokens === 'seeded' ? ['text'] : ['n', 'd']),

  scene({ ways: found, n }, _, width) {
    const { panels, height, narrow } = arrange(width);
    const shares = found.flatMap((way) => way.shares).filter(Number.isFinite);
    const [low, high] = [Math.min(0, ...shares), Math.max(1, ...shares)];
    const marks: Mark[] = [];
    const regions: Region[] = [];
    ways.forEach(({ title, formula, unit }, place) => {
      const way = found[place] as Way;
      const panel = panels[place] as Panel;
      const limit = largestMagnitude([way.logits]) || 1;
      const scale = { low: -limit, high: limit, scale: 'diverging' } as const;
      const drawn = map(panel.map, { values: way.logits, rows: n, columns: n, ...scale });
      const { x, y, width: wide, height: tall } = panel.shares;
      marks.push(
        { mark: 'text', x: panel.title.x, y: panel.title.y, text: title, ink: 'ink', size: 14, bold: true },
        { mark: 'text', x: panel.title.x, y: panel.title.y + 17, text: formula, size: 11.5 },
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
        {
          mark: 'text',
          x: panel.rank.x,
          y: panel.rank.y,
          text: `rank ${way.rank}, at most ${way.mostRank}`,
          ink: 'ink',
        },
      );
      regions.push(drawn.region);
    });
    return { width, height, marks, regions };
  },

  describe({ ways: found, tiedGap, n }) {
    const [added, raw, full, blocks] = found as [Way, Way, Way, Way];
    const cross = ({ crossShare }: Way) => aboutPercent(crossShare);
    const none = [raw, blocks].every((way) => way.cross === 0)
      ? 'every cross term is exactly 0'
      : `cross terms reach ${exponent(Math.max(raw.cross, blocks.cross))}`;
    const same = howExactly(tiedGap);
    return `On the same ${n} tokens, in the raw gauge, the cross terms make up ${cross(added)} of the variation in the added scores, and ${cross(full)} with full weights on [x; p]. Concatenated raw or with block-diagonal weights, ${none}. Full weights with W₂\u00a0=\u00a0W₁ give the added scores ${same}. The ranks are ${added.rank} (added), ${raw.rank} (raw), ${full.rank} (full) and ${blocks.rank} (block-diagonal).`;
  },

  cells: ({ n }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }) => ({ i: Math.min(3, n - 1), j: Math.min(9, n - 1) }),

  readout({ ways: found, n, tokens }, _, { i, j }) {
    const cell = i * n + j;
    const pieces = found.flatMap((way, place): Said[] => [
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

  table({ ways: found, n, tokens, tiedGap }) {
    const rows: (string | number)[][] = [];
    const blank = ['', '', ''];
    const summary = (label: string, of: (way: Way) => (string | number)[]) =>
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
    return {
      columns: [
        'query',
        'key',
        ...ways.flatMap(({ name }) => [name, ...terms.map(({ query, key }) => `${name}: ${query} → ${key}`)]),
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
