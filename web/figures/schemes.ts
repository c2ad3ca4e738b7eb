// Figure "There are other answers": every scheme of the registry on the same words, and one of them taken apart.
import { type SchemeInput, type Superpose, schemeTermOf, type Table, termOf } from 'superpose';
import { percent, readable, signed } from '../plot/format.js';
import {
  type Area,
  colourKey,
  largestMagnitude,
  lineThrough,
  map,
  multiples,
  plane,
  tickText,
  titleHeight,
} from '../plot/parts.js';
import type { Mark, Region, Scene, Term } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Said } from './figure.js';

const controls = {
  scheme: {
    kind: 'choice',
    label: 'Scheme',
    options: {
      none: 'No position',
      added: 'Added',
      'concatenated-raw': 'Concatenated, no weights',
      'concatenated-full': 'Concatenated, full weights',
      'concatenated-block-diagonal': 'Concatenated, in blocks',
      shaw: 'Shaw’s relative keys',
      'transformer-xl': 'Transformer-XL',
      t5: 'T5 buckets',
      alibi: 'ALiBi',
      deberta: 'DeBERTa',
      'tupe-a': 'TUPE-A',
      'tupe-r': 'TUPE-R',
      'diet-abs': 'DIET-ABS',
      'diet-rel': 'DIET-REL',
      rope: 'RoPE',
      'decoupled-rope': 'Decoupled RoPE',
    },
    initial: 'added',
  },
  words: {
    kind: 'choice',
    label: 'Words',
    options: { one: 'One word, repeated', many: 'All different' },
    initial: 'one',
    radio: true,
  },
  view: {
    kind: 'choice',
    label: 'Small maps',
    options: { logits: 'Scores', softmax: 'Softmax' },
    initial: 'logits',
    radio: true,
  },
  n: { kind: 'range', label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 24 },
  spread: {
    kind: 'steps',
    label: 'Learned spread',
    values: [0, 0.02, 0.1, 0.3, 1],
    initial: 1,
  },
  causal: { kind: 'toggle', label: 'Causal', initial: false },
  seed: { kind: 'seed', label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;
type Id = State['scheme'];

interface Kind {
  /** Short enough for a small map. */
  label: string;
  says: string;
}

const kinds: Record<Id, Kind> = {
  none: { label: 'none', says: 'Words alone: where they stand makes no difference to any score.' },
  added: {
    label: 'added',
    says: 'Positions are added to the words, and one projection reads both. Four terms.',
  },
  'concatenated-raw': {
    label: 'concat raw',
    says: 'Words and positions side by side, compared as they are. Two terms, no cross terms.',
  },
  'concatenated-full': {
    label: 'concat full',
    says: 'Side by side, then any weights: four terms again, each with weights of its own.',
  },
  'concatenated-block-diagonal': {
    label: 'concat block',
    says: 'Side by side, with separate projections and head channels: a sum of two scores.',
  },
  shaw: { label: 'Shaw', says: 'The key gets a learned vector for its offset; far offsets share one.' },
  'transformer-xl': {
    label: 'Transf.-XL',
    says: 'The key’s place is a sinusoid of the offset; two learned vectors stand in for the query’s place.',
  },
  t5: { label: 'T5', says: 'Each head adds a learned number for the offset; far offsets share one.' },
  alibi: {
    label: 'ALiBi',
    says: 'Each head subtracts a fixed multiple of the distance. Nothing is learned.',
  },
  deberta: {
    label: 'DeBERTa',
    says: 'Word with word, word with offset, and offset with word; offset with offset is left out.',
  },
  'tupe-a': {
    label: 'TUPE-A',
    says: 'Words and positions have projections of their own, and [CLS], the first token, is set apart.',
  },
  'tupe-r': { label: 'TUPE-R', says: 'TUPE-A, and a learned number for the offset.' },
  'diet-abs': {
    label: 'DIET-ABS',
    says: 'Each head adds the product of two learned position vectors to the score.',
  },
  'diet-rel': { label: 'DIET-REL', says: 'Each head adds a learned number for the offset to the score.' },
  rope: {
    label: 'RoPE',
    says: 'Query and key are turned by their positions, so that only the difference of the angles counts.',
  },
  'decoupled-rope': {
    label: 'split RoPE',
    says: 'One part of each head compares words without positions; another part is turned as in RoPE.',
  },
};
const ids = Object.keys(kinds) as Id[];

/** What a map varies by: nothing, the offset alone, or also the two places. */
type Depends = 'nothing' | 'offset' | 'places';

interface Taken {
  /** [n, n] */
  logits: Float64Array;
  softmax: Float64Array;
  terms: { name: string; values: Float64Array }[];
}

interface Centred {
  /** Less its mean, [n, n]. */
  values: Float64Array;
  mean: number;
  /** The mean at each offset j − i from −(n − 1), less the mean, [2n − 1]. */
  kernel: Float64Array;
  /** How much of the variation the offset explains; NaN when there is none. */
  share: number;
  depends: Depends;
}

interface Data {
  n: number;
  schemes: Record<Id, { logits: Centred; raw: Float64Array; softmax: Float64Array }>;
  terms: { name: string; raw: Float64Array; shown: Centred }[];
  name: string;
  formula: string;
  parameters: number;
}

// BERT-base, in which parameters are counted; its own sequences have 512 tokens.
const shape = { dModel: 768, heads: 12, dHead: 64, layers: 12, positions: 512, buckets: 32 };
/** What the papers clip at. */
const clips: Partial<Record<Id, number>> = { shaw: 16, deberta: 512, 'diet-rel': 128 };

/** As wide as the words when concatenated; DIET’s default; half a head turned, as in DeepSeek-V2. */
const positionWidths: Partial<Record<Id, number>> = { 'diet-abs': 64, 'decoupled-rope': 32 };

const d_model = 64;
const heads = 8;
const streams = { content: 0, query: 1, key: 2, positionQuery: 3, positionKey: 4 };
const below = 1e-9;

interface Computed {
  terms: Taken['terms'];
  shown: Data['schemes'][Id];
}

// Choosing another scheme or view must not compute all of them again, nor a longer text the weights.
let last: { key: string; all: Record<Id, Computed> } | undefined;
let drawn: { seed: number; weights: Table<Float64Array>[] } | undefined;

function all(superpose: Superpose, state: State): Record<Id, Computed> {
  const { words, n, spread, causal, seed } = state;
  const key = JSON.stringify([words, n, spread, causal, seed]);
  if (last?.key === key) return last.all;
  const content = contentOf(superpose, state);
  const found = {} as Record<Id, Computed>;
  for (const id of ids) {
    const { logits, softmax, terms } = take(superpose, id, content, state);
    found[id] = { terms, shown: { logits: centre(superpose, logits, n), raw: logits, softmax } };
  }
  last = { key, all: found };
  return found;
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const computed = all(superpose, state);
  const entry = superpose.schemeRegistry().find(({ id }) => id === state.scheme);
  return {
    n: state.n,
    schemes: Object.fromEntries(ids.map((id) => [id, computed[id].shown])) as Data['schemes'],
    terms: computed[state.scheme].terms.map(({ name, values }) => ({
      name,
      raw: values,
      shown: centre(superpose, values, state.n),
    })),
    name: entry?.name ?? '',
    formula: plainFormula(entry?.formula ?? ''),
    parameters: superpose.schemeParameters(state.scheme, {
      ...shape,
      clip: clips[state.scheme] ?? 0,
      dPosition: positionWidths[state.scheme] ?? shape.dModel,
      dPositionHead: shape.dHead,
    }),
  };
};

function weightsOf(superpose: Superpose, seed: number): Table<Float64Array>[] {
  if (drawn?.seed !== seed) {
    const weights = Object.values(streams).map((stream) =>
      superpose.randomNormal({
        rows: d_model,
        columns: d_model,
        seed,
        stream,
        standardDeviation: 1 / Math.sqrt(d_model),
      }),
    );
    drawn = { seed, weights };
  }
  return drawn.weights;
}

function contentOf(superpose: Superpose, { words, n, seed }: State): Table<Float64Array> {
  const stream = streams.content;
  if (words === 'many') return superpose.randomNormal({ rows: n, columns: d_model, seed, stream });
  const word = superpose.randomNormal({ rows: 1, columns: d_model, seed, stream }).data;
  const data = new Float64Array(n * d_model);
  for (let row = 0; row < n; row++) data.set(word, row * d_model);
  return { data, rows: n, columns: d_model };
}

/** The first head's scores by a scheme, whose weights for words are everywhere the same. */
function take(superpose: Superpose, id: Id, content: Table<Float64Array>, state: State): Taken {
  const { n, seed, causal, spread: standardDeviation } = state;
  const weights = weightsOf(superpose, seed);
  const weight = (stream: number) => weights[stream] as Table<Float64Array>;
  const query = { weight: weight(streams.query) };
  const key = { weight: weight(streams.key) };
  const only = [0];
  const position = () => superpose.sinusoidal({ positions: n, d_model });
  const pairs = (scores: ReturnType<Superpose['concatenateRaw']>): Taken => {
    const all = superpose.combineTerms(
      scores,
      scores.heads[0] as number,
      scores.parts.flatMap(() => scores.parts.map(() => true)),
    );
    const named = ['token', 'position'].flatMap((from) =>
      ['token', 'position'].map((to) => ({
        name: `${from} → ${to}`,
        values: Float64Array.from(termOf(scores, scores.heads[0] as number, from, to)),
      })),
    );
    const terms =
      id === 'concatenated-raw' || id === 'concatenated-block-diagonal'
        ? named.filter((_, place) => place === 0 || place === 3)
        : named;
    return {
      logits: Float64Array.from(scores.logits.subarray(0, n * n)),
      softmax: Float64Array.from(all.softmax),
      terms,
    };
  };
  switch (id) {
    case 'added':
      return pairs(
        superpose.decompose({ summands: { token: content, position: position() }, query, key, heads, only }),
      );
    case 'concatenated-raw':
      return pairs(superpose.concatenateRaw({ token: content, position: position() }));
    case 'concatenated-full':
      return pairs(
        superpose.concatenateFull({
          token: content,
          position: position(),
          query: { weight: joined(query.weight, weight(streams.positionQuery)) },
          key: { weight: joined(key.weight, weight(streams.positionKey)) },
          heads,
          only,
        }),
      );
    case 'concatenated-block-diagonal':
      return pairs(
        superpose.concatenateBlockDiagonal({
          token: content,
          position: position(),
          tokenQuery: query.weight,
          tokenKey: key.weight,
          positionQuery: weight(streams.positionQuery),
          positionKey: weight(streams.positionKey),
          heads,
          only,
        }),
      );
    default: {
      const given = { content, heads, query, key, only, causal, seed, standardDeviation };
      const input = {
        ...given,
        scheme: id,
        ...(id === 't5' ? { bidirectional: !causal } : {}),
        // Weights of positions that are drawn once, and as many rows as there are offsets.
        ...(id === 'deberta' || id.startsWith('tupe')
          ? {
              positionQuery: { weight: weight(streams.positionQuery) },
              positionKey: { weight: weight(streams.positionKey) },
            }
          : {}),
        ...(id === 'transformer-xl' ? { offsetKey: { weight: weight(streams.positionKey) } } : {}),
        ...(id === 'deberta' ? { clip: n } : {}),
      } as SchemeInput<Float64Array>;
      const scores = superpose.schemeScores(input);
      return {
        logits: scores.logits,
        softmax: scores.weights,
        terms: scores.termNames.map((name) => ({ name, values: schemeTermOf(scores, 0, name).slice() })),
      };
    }
  }
}

/** Two weights side by side: of the words, and of the positions. */
function joined(left: Table<Float64Array>, right: Table<Float64Array>): Table<Float64Array> {
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

let offsets: { n: number; of: number[]; zeros: number[] } | undefined;

/** Of each cell of a map: its offset, from 0, and nothing else. */
function offsetsOf(n: number) {
  if (offsets?.n !== n) {
    const of = Array.from({ length: n * n }, (_, cell) => (cell % n) - Math.floor(cell / n) + n - 1);
    offsets = { n, of, zeros: of.map(() => 0) };
  }
  return offsets;
}

/** A map as its mean, its mean at each offset, and what is left. */
function centre(superpose: Superpose, map: Float64Array, n: number): Centred {
  const { of: offset, zeros } = offsetsOf(n);
  const { global, position, residual, positionShare } = superpose.meanDecomposition({
    rows: { data: map, rows: n * n, columns: 1 },
    positionOf: offset,
    positions: 2 * n - 1,
    tokenOf: zeros,
    tokens: 1,
  });
  const size = below * Math.max(largestMagnitude([map]), Number.MIN_VALUE);
  const left = largestMagnitude([residual]) > size;
  const depends = left ? 'places' : largestMagnitude([position]) > size ? 'offset' : 'nothing';
  return {
    values: residual.map((value, cell) => value + (position[offset[cell] as number] as number)),
    mean: global[0] as number,
    kernel: position,
    share: depends === 'nothing' ? Number.NaN : positionShare,
    depends,
  };
}

const plainer: [RegExp, string][] = [
  [/\\mathrm\{(\w+)\}/g, '$1'],
  [/\\text\{([^{}]*)\}/g, '$1'],
  [/_\{([^{}]*)\}/g, '[$1]'],
  [/\\sqrt\{(d_h)\}/g, '√$1'],
  [/\\sqrt\{([^{}]*)\}/g, '√($1)'],
  [/\{\}/g, ''],
  [/\\;/g, ' '],
  [/\^\\top/g, 'ᵀ'],
  [/\\theta_1/g, 'θ₁'],
  [/\\theta_2/g, 'θ₂'],
  [/\\delta/g, 'δ'],
  [/\\rho\^2/g, 'ρ²'],
  [/_i/g, 'ᵢ'],
  [/_j/g, 'ⱼ'],
  [/_h/g, 'ₕ'],
  [/_r/g, 'ᵣ'],
  [/d\[hp\]/g, 'd′ₕ'],
  [/W\[k,R\]/g, 'W_kR'],
  [/,(?=\S)/g, ', '],
  [/-/g, '−'],
];

/** A formula of the registry as one line of text. */
export function plainFormula(tex: string): string {
  let text = tex;
  for (const [pattern, plain] of plainer) text = text.replace(pattern, plain);
  // Room around the signs between terms, not in indices.
  let depth = 0;
  return [...text]
    .map((letter) => {
      if ('[('.includes(letter)) depth++;
      if ('])'.includes(letter)) depth--;
      return letter === '+' || (letter === '−' && depth === 0) ? ` ${letter} ` : letter;
    })
    .join('');
}

/** Terms of words and positions; a bias or a rotated pair is neither. */
const termColours: Record<string, Term> = {
  'token → token': 'token-token',
  'token → position': 'token-position',
  'position → token': 'position-token',
  'position → position': 'position-position',
  'content-content': 'token-token',
  'content-position': 'token-position',
  'position-content': 'position-token',
  'position-position': 'position-position',
};
const printedTerms: Record<string, string> = {
  'content-content': 'token → token',
  'content-position': 'token → position',
  'position-content': 'position → token',
  'position-position': 'position → position',
};
/** RoPE's one term turns words by their positions: it belongs to no single pair. */
const termColour = (id: Id, name: string): Term | undefined =>
  id === 'rope' ? undefined : termColours[name];
const printed = (id: Id, name: string): string =>
  id === 'rope' ? 'turned words' : (printedTerms[name] ?? name);

const dependsOn = ({ depends, share }: Centred): string =>
  depends === 'nothing' ? 'nothing' : depends === 'offset' ? 'offset only' : `${percent(share)} offset`;

const lines = (text: string, width: number): string[] => {
  const most = Math.max(20, Math.floor(width / 7.5));
  const found: string[] = [''];
  for (const word of text.split(' ')) {
    const line = found.at(-1) as string;
    if (line && line.length + word.length + 1 > most) found.push(word);
    else found[found.length - 1] = line ? `${line} ${word}` : word;
  }
  return found;
};

const isCausal = (id: Id) => id !== 'added' && !id.startsWith('concatenated');

export const figure: Figure<typeof controls, Data> = {
  name: 'schemes',
  title: 'Sixteen ways to say where, on the same words',
  controls,
  source: () => 'seeded',

  scene(data, state, width) {
    const { n } = data;
    const at = arrange(data, state, width);
    const marks: Mark[] = [];
    const regions: Region[] = [];
    const put = (drawn: { marks: Mark[]; region: Region }) => {
      marks.push(...drawn.marks);
      regions.push(drawn.region);
    };
    const scores = state.view === 'logits';
    ids.forEach((id, place) => {
      const area = at.tile(place);
      const { logits, softmax } = data.schemes[id];
      const values = scores ? logits.values : softmax;
      // Rounding is not to be blown up to a pattern.
      const limit = scores && logits.depends === 'nothing' ? 1 : largestMagnitude([values]);
      put(
        map(area, {
          values,
          rows: n,
          columns: n,
          low: scores ? -limit : 0,
          high: limit,
          scale: scores ? 'diverging' : 'sequential',
          title: kinds[id].label,
          subtitle: dependsOn(logits),
        }),
      );
      if (id === state.scheme) {
        const { x, y, width, height } = regions.at(-1) as Region;
        marks.push({ mark: 'box', x, y, width, height, stroke: 'accent', wide: 2.5 });
      }
    });
    marks.push(
      ...colourKey(0, at.tilesKey, {
        low: scores ? -1 : 0,
        high: 1,
        scale: scores ? 'diverging' : 'sequential',
        label: at.narrow ? 'each map by itself' : 'each map by itself; queries down, keys across',
        print: (value) => (value < 0 ? 'lowest' : value > 0 ? (scores ? 'highest' : 'most') : '0'),
      }),
      { mark: 'text', x: 0, y: at.name, text: data.name, ink: 'accent', size: 16, bold: true },
      ...at.lines.map(
        (text, line): Mark => ({
          mark: 'text',
          x: 0,
          y: at.name + 21 * (line + 1),
          text,
          ink: 'ink',
          size: 13.5,
        }),
      ),
    );
    const chosen = data.schemes[state.scheme];
    const largest = largestMagnitude([chosen.logits.values, ...data.terms.map(({ shown }) => shown.values)]);
    const limit = largest > below ? largest : 1;
    const most = largestMagnitude([chosen.softmax]);
    const scored = { rows: n, columns: n, low: -limit, high: limit, scale: 'diverging' } as const;
    put(map(at.part(0), { ...scored, values: chosen.logits.values, title: 'the score' }));
    data.terms.forEach(({ name, shown }, place) => {
      const term = termColour(state.scheme, name);
      put(
        map(at.part(place + 1), {
          ...scored,
          values: shown.values,
          title: printed(state.scheme, name),
          term,
        }),
      );
    });
    put(
      map(at.part(data.terms.length + 1), {
        values: chosen.softmax,
        rows: n,
        columns: n,
        low: 0,
        high: most,
        scale: 'sequential',
        title: 'softmax',
      }),
    );
    marks.push(
      ...colourKey(0, at.scoreKey.y, {
        low: -limit,
        high: limit,
        scale: 'diverging',
        label: at.narrow ? 'logit less mean' : 'logit, less its map’s mean',
        print: readable,
      }),
      ...colourKey(at.softmaxKey.x, at.softmaxKey.y, {
        low: 0,
        high: most,
        scale: 'sequential',
        label: 'softmax weight',
        print: (value) => tickText(Number(value.toPrecision(2))),
      }),
    );
    const { x, y, marks: axes } = kernelPlane(data, state, at.kernel);
    const offsets = Array.from(chosen.logits.kernel, (_, place) => place - n + 1);
    marks.push(...axes, {
      mark: 'path',
      d: lineThrough({ x, y }, offsets, chosen.logits.kernel),
      stroke: 'accent',
      wide: 2,
    });
    return { width, height: at.height, marks, regions } satisfies Scene;
  },

  /** Where the cursor's pair stands among the offsets. */
  focus(data, state, { i, j }, width) {
    const { x, inner } = kernelPlane(data, state, arrange(data, state, width).kernel);
    const at = x(j - i);
    return [{ mark: 'line', x1: at, x2: at, y1: inner.y, y2: inner.y + inner.height, ink: 'ink', wide: 1.5 }];
  },

  describe(data, state) {
    const of = (wanted: Depends) => ids.filter((id) => data.schemes[id].logits.depends === wanted);
    const names = (list: Id[]) => list.map((id) => kinds[id].label).join(', ');
    const { logits } = data.schemes[state.scheme];
    const chosen =
      logits.depends === 'places'
        ? `In the chosen one, ${data.name}, the offset explains ${percent(logits.share)} of what the scores vary by.`
        : logits.depends === 'offset'
          ? `In the chosen one, ${data.name}, the offset explains all of it.`
          : `In the chosen one, ${data.name}, the scores do not vary at all.`;
    const parameters = `It adds ${data.parameters.toLocaleString('en')} parameters to a model of BERT-base’s shape.`;
    if (state.words === 'many') {
      return `With ${data.n} different words, scores vary with the words too. ${chosen} Without any position the offset explains ${percent(data.schemes.none.logits.share)}, by chance. ${parameters}`;
    }
    const flat = of('nothing');
    const places = of('places');
    return `With one word in all ${data.n} places, whatever varies is position. ${of('offset').length} of ${ids.length} schemes give scores that depend on the offset alone (${names(of('offset')) || 'none of them'}); in ${places.length} they depend on the two places themselves${places.length ? ` (${names(places)})` : ''}; in ${flat.length} all scores are the same${flat.length ? ` (${names(flat)})` : ''}. ${chosen} ${parameters}`;
  },

  cells: ({ n }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }) => ({ i: Math.min(6, n - 1), j: Math.min(4, n - 1) }),

  readout(data, state, { i, j }) {
    const cell = i * data.n + j;
    const { raw, softmax, logits } = data.schemes[state.scheme];
    const terms = data.terms.flatMap(({ name, raw: values }): Said[] => [
      {
        text: `${signed(values[cell] ?? Number.NaN)} ${printed(state.scheme, name)}`,
        ...(termColour(state.scheme, name) ? { term: termColour(state.scheme, name) as Term } : {}),
      },
      ' ',
    ]);
    return [
      `${data.name}: query ${i}, key ${j}: `,
      ...terms,
      `= score ${readable(raw[cell] ?? Number.NaN)}; softmax ${percent(softmax[cell] ?? Number.NaN)}. The mean at offset ${signedOffset(j - i)} is ${readable((logits.kernel[j - i + data.n - 1] ?? Number.NaN) + logits.mean)}.`,
    ];
  },

  remark: (_, { causal, scheme, view }) =>
    causal && (view === 'softmax' || !isCausal(scheme))
      ? 'Adding and concatenating are shown for all pairs; the other schemes’ softmax sees no later key.'
      : '',

  table(data, state) {
    const rows: (string | number)[][] = [];
    for (let cell = 0; cell < data.n ** 2; cell++) {
      const [i, j] = [Math.floor(cell / data.n), cell % data.n];
      rows.push([
        i,
        j,
        ...ids.map(
          (id) => (state.view === 'logits' ? data.schemes[id].raw : data.schemes[id].softmax)[cell] as number,
        ),
        ...data.terms.map(({ raw }) => raw[cell] as number),
        data.schemes[state.scheme].softmax[cell] as number,
      ]);
    }
    const what = state.view === 'logits' ? 'score' : 'softmax';
    return {
      columns: [
        'query',
        'key',
        ...ids.map((id) => `${what}: ${kinds[id].label}`),
        ...data.terms.map(({ name }) => `${kinds[state.scheme].label}: ${printed(state.scheme, name)}`),
        `${kinds[state.scheme].label}: softmax`,
      ],
      rows,
    };
  },
};

const signedOffset = (offset: number): string => (offset > 0 ? `+${offset}` : `${offset}`.replace('-', '−'));

/** Where everything stands. */
function arrange(data: Data, state: State, width: number) {
  const narrow = width < 560;
  const tiles = multiples(width, 84, 8, 12);
  const tileHeight = titleHeight(true) + tiles.width;
  const tilesKey = Math.ceil(ids.length / tiles.columns) * (tileHeight + 12) + 4;
  const name = tilesKey + 62;
  const text = [...lines(kinds[state.scheme].says, width), ...lines(data.formula, width)];
  const partsY = name + 21 * text.length + 18;
  const grid = multiples(width, 132, 6);
  const partHeight = titleHeight() + grid.width;
  const keys = partsY + Math.ceil((data.terms.length + 2) / grid.columns) * (partHeight + 12) + 4;
  const softmaxKey = narrow ? { x: 0, y: keys + 42 } : { x: width / 2, y: keys };
  const kernel = { x: 0, y: softmaxKey.y + 52, width, height: narrow ? 180 : 210 };
  return {
    narrow,
    tile(place: number): Area {
      const { row, x } = tiles.at(place);
      return { x, y: row * (tileHeight + 12), width: tiles.width, height: tileHeight };
    },
    tilesKey,
    name,
    lines: text,
    part(place: number): Area {
      const { row, x } = grid.at(place);
      return { x, y: partsY + row * (partHeight + 12), width: grid.width, height: partHeight };
    },
    scoreKey: { y: keys },
    softmaxKey,
    kernel,
    height: kernel.y + kernel.height,
  };
}

function kernelPlane({ n, schemes }: Data, { scheme }: State, area: Area) {
  const { kernel } = schemes[scheme].logits;
  const limit = largestMagnitude([kernel]);
  const end = limit > below ? limit : 1;
  return plane(
    area,
    { from: 1 - n, to: n - 1, label: 'offset: key − query, in tokens', nice: false },
    {
      from: -end,
      to: end,
      label:
        area.width < 560
          ? 'mean at that offset, less all’s'
          : 'mean score at that offset, less the mean of all',
      ticks: 4,
    },
  );
}
