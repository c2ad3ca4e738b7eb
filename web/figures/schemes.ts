// Figure "There are other answers": every scheme of the registry on the same tokens, and one of them taken apart.

import { extent } from 'd3-array';
import {
  type AskedTerm,
  askedTerms,
  type SchemeId as Id,
  type OffsetMeans,
  type SchemeInfo,
  type SchemeInput,
  type SchemeScores,
  type Superpose,
  schemeTermOf,
  type Table,
} from 'superpose';
import { aboutPercent, percent, readable, signed } from '../plot/format.js';
import {
  type Area,
  colourKey,
  largestMagnitude,
  lineKey,
  lineThrough,
  map,
  multiples,
  plane,
  tickText,
  titleHeight,
  vertical,
} from '../plot/parts.js';
import type { Mark, Region, Run, Scene } from '../plot/scene.js';
import { wrapped } from '../plot/wrapped.js';
import { type Controls, labelled, type StateOf } from './controls.js';
import type { Compute, Figure, Library, ReadoutPiece } from './figure.js';
import { formulaLines } from './formula.js';
import { askedLabels, kinds } from './schemeTexts.js';
import { bases } from './sinusoids.js';

// Marked as pure: a worker, which draws nothing, leaves the texts out.
const ids = /* @__PURE__ */ Object.keys(kinds) as Id[];
const names = /* @__PURE__ */ labelled(ids, (id) => kinds[id].name);

const controls = {
  scheme: {
    kind: 'choice',
    label: 'Scheme',
    options: names,
    initial: 'add',
  },
  words: {
    kind: 'choice',
    label: 'Tokens',
    options: { one: 'One token, repeated', many: 'All different' },
    initial: 'one',
    radio: true,
  },
  view: {
    kind: 'choice',
    more: true,
    label: 'Small maps',
    options: { logits: 'Scores', softmax: 'Softmax' },
    initial: 'logits',
    radio: true,
  },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 24 },
  spread: {
    kind: 'steps',
    more: true,
    label: 'Learned spread',
    values: [0, 0.02, 0.1, 0.3, 1],
    initial: 1,
  },
  common: {
    kind: 'steps',
    more: true,
    label: 'Common to all tokens',
    values: [0, 0.5, 1, 2],
    initial: 0,
  },
  causal: { kind: 'toggle', more: true, label: 'Causal', initial: false },
  base: { ...bases, more: true },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

/** What a map varies by: nothing, the offset alone, or also the two places. */
type Depends = 'nothing' | 'offset' | 'places';

/** A map, [n, n], and how much of it the offset explains. */
interface OffsetMap {
  values: Float64Array;
  /** Kernel and share: the mean at each offset j − i from −(n − 1), [2n − 1], and how much it explains. */
  offsets: OffsetMeans;
  /** How far the values go from their mean. */
  limit: number;
  depends: Depends;
}

interface Data {
  n: number;
  /** Shares by `askedTerms`, of what varies over the keys; NaN when nothing does. */
  schemes: Record<Id, { logits: OffsetMap; softmax: Float64Array; shares: Float64Array }>;
  /** Of the chosen scheme; those that are 0 everywhere are left out. */
  terms: (OffsetMap & { name: AskedTerm })[];
  name: string;
  tex: string;
  parameters: number;
  /** How far the means at offsets go from the mean of all, with any base: axes stay while it is moved. */
  reach: number;
}

// BERT-base, for which parameters are counted. Its sequences have 512 tokens.
const shape = { d_model: 768, heads: 12, d_head: 64, layers: 12, positions: 512, buckets: 32 };

/** Widths other than the words': DIET’s default, and half a head turned, as in DeepSeek-V2. */
const positionWidths: Partial<Record<Id, number>> = { 'diet-abs': 64, 'decoupled-rope': 32 };

const d_model = 64;
const heads = 8;
/** These take all heads: each has its own table or slope, or numbers are drawn for all heads at once. */
const apart: ReadonlySet<Id> = new Set<Id>(['t5', 'alibi', 'tupe-r', 'diet-abs', 'diet-rel']);
const streams = { content: 0, query: 1, key: 2, positionQuery: 3, positionKey: 4, common: 5 };
const below = 1e-9;

interface Computed {
  scores: SchemeScores<Float64Array>;
  shown: Data['schemes'][Id];
}

/** What a scheme's positions are made with, so that the other setting does not move its scores. */
const madeWith: Partial<Record<Id, readonly ('base' | 'spread')[]>> = {
  none: [],
  add: ['base'],
  'concat-raw': ['base'],
  'concat-full': ['base'],
  'concat-block-diagonal': ['base'],
  alibi: [],
  rope: ['base'],
  'decoupled-rope': ['base'],
  shaw: ['spread'],
  t5: ['spread'],
  deberta: ['spread'],
  'tupe-a': ['spread'],
  'tupe-r': ['spread'],
  'diet-abs': ['spread'],
  'diet-rel': ['spread'],
};

function keyOf(id: Id, { words, n, common, causal, seed, ...state }: State): string {
  const made = madeWith[id] ?? (['base', 'spread'] as const);
  return JSON.stringify([words, n, common, causal, seed, made.map((one) => state[one])]);
}

/** A setting must not compute schemes again that it does not move. */
function all(
  library: Library,
  superpose: Superpose,
  schemes: readonly SchemeInfo[],
  state: State,
): Record<Id, Computed> {
  const content = contentOf(superpose, state);
  const computed = (id: Id): Computed =>
    library.kept(`schemes: ${id}`, keyOf(id, state), () => {
      const scores = superpose.schemeScores(inputOf(library, superpose, id, content, state));
      const logits = taken(superpose, scores.logits, state.n);
      return { scores, shown: { logits, softmax: scores.weights, shares: scores.shares } };
    });
  return Object.fromEntries(schemes.map(({ id }) => [id, computed(id)])) as Record<Id, Computed>;
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const registry = library.kept('schemes: registry', '', () => superpose.schemeRegistry());
  const computed = all(library, superpose, registry, state);
  const entry = registry.find(({ id }) => id === state.scheme) as SchemeInfo;
  const { scores } = computed[state.scheme];
  const zero = 1e-13 * largestMagnitude([scores.logits]);
  const terms = askedTerms.map((name) => ({ name, values: schemeTermOf(scores, 0, name).slice() }));
  return {
    n: state.n,
    schemes: Object.fromEntries(
      Object.entries(computed).map(([id, { shown }]) => [id, shown]),
    ) as Data['schemes'],
    terms: terms
      .filter(({ values }) => largestMagnitude([values]) > zero)
      .map(({ name, values }) => ({ name, ...taken(superpose, values, state.n) })),
    name: entry.name,
    tex: state.causal ? entry.formula : entry.bidirectionalFormula,
    parameters: superpose.schemeParameters(state.scheme, {
      ...shape,
      clip: entry.clip,
      d_position: positionWidths[state.scheme] ?? shape.d_model,
      d_position_head: shape.d_head,
    }),
    reach: reachOf(library, superpose, state, computed[state.scheme]),
  };
};

/** The weights of all heads, and of the first alone. */
const weightsOf = ({ kept }: Library, superpose: Superpose, seed: number) =>
  // A longer text must not draw new weights.
  kept('schemes: weights', seed, () => {
    const weights = Object.values(streams).map((stream) =>
      superpose.randomNormal({
        rows: d_model,
        columns: d_model,
        seed,
        stream,
        standardDeviation: 'fan_in',
      }),
    );
    const rows = d_model / heads;
    const first = weights.map(({ data, columns }) => ({
      data: data.slice(0, rows * columns),
      rows,
      columns,
    }));
    return { weights, first };
  });

function contentOf(superpose: Superpose, { words, n, common, seed }: State): Table<Float64Array> {
  const stream = streams.content;
  if (words === 'many') {
    const drawn = superpose.randomNormal({ rows: n, columns: d_model, seed, stream });
    if (common === 0) return drawn;
    const row = superpose.randomNormal({ rows: 1, columns: d_model, seed, stream: streams.common }).data;
    const data = drawn.data.map((value, at) => value + common * (row[at % d_model] as number));
    return { ...drawn, data };
  }
  const word = superpose.randomNormal({ rows: 1, columns: d_model, seed, stream }).data;
  const data = new Float64Array(n * d_model);
  for (let row = 0; row < n; row++) data.set(word, row * d_model);
  return { data, rows: n, columns: d_model };
}

/** A scheme's first head, with the same weights for words in all; other heads are left out if possible. */
function inputOf(
  library: Library,
  superpose: Superpose,
  scheme: Id,
  content: Table<Float64Array>,
  { n, seed, causal, spread: standardDeviation, base }: State,
): SchemeInput<Float64Array> {
  const { weights: all, first } = weightsOf(library, superpose, seed);
  // Raw concatenation has no weights, so all heads are the same.
  const raw = scheme === 'concat-raw';
  const weights = raw || apart.has(scheme) ? all : first;
  const linear = (stream: number) => ({ weight: weights[stream] as Table<Float64Array> });
  const words = { query: linear(streams.query), key: linear(streams.key) };
  const places = {
    positionQuery: linear(streams.positionQuery),
    positionKey: linear(streams.positionKey),
  };
  const positions = () => ({ position: superpose.sinusoidal({ positions: n, d_model, base }) });
  // A scheme is given only the positions and weights that it has; others would be refused.
  const own: Partial<Record<Id, () => object>> = {
    add: positions,
    'concat-raw': positions,
    'concat-full': () => ({ ...positions(), ...places }),
    'concat-block-diagonal': () => ({ ...positions(), ...places }),
    'transformer-xl': () => ({
      offsetKey: places.positionKey,
      offsets: offsetsOf(superpose, n, base),
    }),
    t5: () => ({ bidirectional: !causal }),
    deberta: () => ({ ...places, clip: n }),
    'tupe-a': () => places,
    'tupe-r': () => places,
    rope: () => ({ base }),
    'decoupled-rope': () => ({ base }),
  };
  const ofWeights = apart.has(scheme) ? heads : 1;
  const given = {
    ...{ content, heads: ofWeights, ...words, only: [0], causal, seed, standardDeviation },
    terms: 'asked',
  };
  return { ...given, scheme, ...own[scheme]?.() } as SchemeInput<Float64Array>;
}

/** The sinusoid of i − j, as Transformer-XL has it. */
const offsetsOf = (superpose: Superpose, n: number, base: number) =>
  superpose.sinusoidal({
    positions: 2 * n - 1,
    d_model,
    layout: 'concatenated',
    firstPosition: 1 - n,
    base,
  });

function reachOf(library: Library, superpose: Superpose, state: State, { shown }: Computed): number {
  const { scheme, n } = state;
  if (madeWith[scheme]?.includes('base') === false) return largestMagnitude([shown.logits.offsets.kernel]);
  return library.kept('schemes: reach', [scheme, keyOf(scheme, { ...state, base: 0 })], () => {
    const content = contentOf(superpose, state);
    const kernels = bases.values.map((base) => {
      const input = inputOf(library, superpose, scheme, content, { ...state, base });
      const { logits } = superpose.schemeScores({ ...input, terms: 'own' });
      return superpose.offsetMeans({ data: logits, rows: n, columns: n }).kernel;
    });
    return largestMagnitude(kernels);
  });
}

/** What a map varies by, apart from rounding. */
function taken(superpose: Superpose, values: Float64Array, n: number): OffsetMap {
  const offsets = superpose.offsetMeans({ data: values, rows: n, columns: n });
  const [least = 0, largest = 0] = extent(values);
  const size = below * Math.max(-least, largest, Number.MIN_VALUE);
  const varies = largestMagnitude([offsets.kernel]) > size;
  const depends = offsets.apart > size ? 'places' : varies ? 'offset' : 'nothing';
  return { values, offsets, limit: Math.max(largest - offsets.mean, offsets.mean - least), depends };
}

const dependsOn = ({ depends, offsets }: OffsetMap): string =>
  depends === 'nothing'
    ? 'nothing'
    : depends === 'offset'
      ? 'offset only'
      : `${percent(offsets.share)} offset`;

/** A map's colours are centred on its mean, because what is the same everywhere says nothing. */
const aboutMean = ({ offsets }: OffsetMap, limit: number) =>
  ({ low: offsets.mean - limit, high: offsets.mean + limit, scale: 'diverging' }) as const;

export const figure: Figure<typeof controls, Data> = {
  name: 'schemes',
  title: 'Other ways to say where, on the same tokens',
  controls,
  source: () => 'seeded',
  unused: ({ words }) => (words === 'one' ? ['common'] : []),

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
      const { logits, softmax, shares } = data.schemes[id];
      // Rounding must not be blown up into a pattern.
      const limit = logits.depends === 'nothing' ? 1 : logits.limit;
      const shown = scores
        ? { values: logits.values, ...aboutMean(logits, limit) }
        : { values: softmax, low: 0, high: largestMagnitude([softmax]), scale: 'sequential' as const };
      put(
        map(area, {
          ...shown,
          rows: n,
          columns: n,
          title: kinds[id].label,
          subtitle: dependsOn(logits),
        }),
      );
      const tile = regions.at(-1) as Region;
      tile.sets = { scheme: id };
      marks.push(
        ...shareBar(shares, { x: tile.x, y: tile.y + tile.height + 3, width: tile.width, height: 6 }),
      );
      if (id === state.scheme) {
        const { x, y, width, height } = tile;
        marks.push({ mark: 'box', x, y, width, height, stroke: 'accent', wide: 2.5 });
      }
    });
    marks.push(
      ...colourKey(0, at.tilesKey, {
        low: scores ? -1 : 0,
        high: 1,
        scale: scores ? 'diverging' : 'sequential',
        label: at.roomy ? 'each by itself; queries down, keys across' : 'each map by itself',
        print: (value) => (value < 0 ? 'lowest' : value > 0 ? (scores ? 'highest' : 'most') : '0'),
      }),
      ...at.legend,
      { mark: 'text', x: at.x, y: at.name, text: data.name, ink: 'accent', size: 16, bold: true },
      ...at.lines.map(
        ({ text, runs }, line): Mark => ({
          mark: 'text',
          x: at.x,
          y: at.name + 23 * (line + 1),
          text,
          ...(runs && { runs }),
          ink: 'ink',
          size: runs ? 16 : 13.5,
        }),
      ),
    );
    const chosen = data.schemes[state.scheme];
    const largest = Math.max(chosen.logits.limit, ...data.terms.map((term) => term.limit));
    const limit = largest > below ? largest : 1;
    const most = largestMagnitude([chosen.softmax]);
    const scored = (one: OffsetMap) => ({
      values: one.values,
      rows: n,
      columns: n,
      ...aboutMean(one, limit),
    });
    put(map(at.part(0), { ...scored(chosen.logits), title: 'the score' }));
    shownTerms(data).forEach((one, place) => {
      const { label, ink, term } = askedLabels[one.name];
      put(map(at.part(place + 1), { ...scored(one), title: label, ink, term }));
    });
    put(
      map(at.part(shownTerms(data).length + 1), {
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
      ...colourKey(at.scoreKey.x, at.scoreKey.y, {
        low: -limit,
        high: limit,
        scale: 'diverging',
        label: 'less mean',
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
    const { x, y, marks: axes } = kernelPlane(data, at.kernel);
    const { kernel } = chosen.logits.offsets;
    const offsets = Array.from(kernel, (_, place) => place - n + 1);
    marks.push(...axes, {
      mark: 'path',
      d: lineThrough({ x, y }, offsets, kernel),
      stroke: 'accent',
      wide: 2,
    });
    return { width, height: at.height, marks, regions } satisfies Scene;
  },

  /** A line at the offset of the cursor's pair. */
  focus(data, state, { i, j }, width) {
    const { x, inner } = kernelPlane(data, arrange(data, state, width).kernel);
    const at = x(j - i);
    return [vertical({ inner }, at, { ink: 'ink', wide: 1.5 })];
  },

  describe(data, state) {
    const { logits, shares } = data.schemes[state.scheme];
    const explained =
      logits.depends === 'places'
        ? aboutPercent(logits.offsets.share)
        : logits.depends === 'offset'
          ? 'all'
          : '';
    const head = explained
      ? `${data.name}: the offset explains ${explained} of the variation.`
      : `${data.name}: the scores do not vary.`;
    const parameters = `It adds ${data.parameters.toLocaleString('en')} parameters to a model of BERT-base’s shape.`;
    if (state.words === 'many') {
      return `${head} ${askedIn(shares)} With ${data.n} different tokens, scores vary with the tokens too; without any position the offset explains ${aboutPercent(data.schemes.none.logits.offsets.share)}, by chance. ${parameters}`;
    }
    return `${head} With one token in all ${data.n} positions, whatever varies is position. ${parameters}`;
  },

  cells: ({ n }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }) => ({ i: Math.min(6, n - 1), j: Math.min(4, n - 1) }),

  readout(data, state, { i, j }) {
    const cell = i * data.n + j;
    const { softmax, logits } = data.schemes[state.scheme];
    const terms = data.terms.flatMap(({ name, values }): ReadoutPiece[] => [
      saidOf(name, signed(values[cell] ?? Number.NaN)),
      ' ',
    ]);
    return [
      `${data.name}: query ${i}, key ${j}: `,
      ...terms,
      `= score ${readable(logits.values[cell] ?? Number.NaN)}; softmax ${percent(softmax[cell] ?? Number.NaN)}. The mean at offset ${signedOffset(j - i)} is ${readable(logits.offsets.means[j - i + data.n - 1] ?? Number.NaN)}.`,
    ];
  },

  table(data, state) {
    const rows: (string | number)[][] = [];
    for (let cell = 0; cell < data.n ** 2; cell++) {
      const [i, j] = [Math.floor(cell / data.n), cell % data.n];
      rows.push([
        i,
        j,
        ...ids.map(
          (id) =>
            (state.view === 'logits' ? data.schemes[id].logits.values : data.schemes[id].softmax)[
              cell
            ] as number,
        ),
        ...data.terms.map(({ values }) => values[cell] as number),
        data.schemes[state.scheme].softmax[cell] as number,
      ]);
    }
    const what = state.view === 'logits' ? 'score' : 'softmax';
    return {
      columns: [
        'query',
        'key',
        ...ids.map((id) => `${what}: ${kinds[id].label}`),
        ...data.terms.map(({ name }) => `${kinds[state.scheme].label}: ${askedLabels[name].label}`),
        `${kinds[state.scheme].label}: softmax`,
      ],
      rows,
    };
  },
};

const signedOffset = (offset: number): string => (offset > 0 ? `+${offset}` : `${offset}`.replace('-', '−'));

const saidOf = (name: AskedTerm, value: string): ReadoutPiece => {
  const { label, ink, term } = askedLabels[name];
  return { text: `${value} ${label}`, ...(term ? { term } : { ink }) };
};

/** What a scheme's scores ask about, side by side. A negative share takes nothing. */
function shareBar(shares: Float64Array, { x, width, ...bar }: Area): Mark[] {
  const counted = Array.from(shares, (share) => Math.max(0, share || 0));
  const all = counted.reduce((sum, share) => sum + share, 0);
  if (all === 0) return [{ mark: 'box', x, width, ...bar, stroke: 'line' }];
  let from = x;
  return counted.flatMap((share, place): Mark[] => {
    const wide = (share / all) * width;
    const { ink, term } = askedLabels[askedTerms[place] as AskedTerm];
    from += wide;
    return wide < 0.25 ? [] : [{ mark: 'box', x: from - wide, width: wide, ...bar, fill: ink, term }];
  });
}

/** Smaller shares are not spoken of. */
const leastSeen = 0.01;

/** The shares that are, largest first. */
const askedIn = (shares: Float64Array): string => {
  const list = Array.from(shares, (share, place) => ({ share, name: askedTerms[place] as AskedTerm }))
    .filter(({ share }) => Math.abs(share) >= leastSeen)
    .sort((one, other) => other.share - one.share)
    .map(({ share, name }) => `${askedLabels[name].label} ${aboutPercent(share)}`);
  return list.length ? `By what they ask: ${list.join(', ')}.` : 'They ask nothing.';
};

/** The query alone is the same for every key: it is in the sum, but nothing is seen of it in softmax. */
const shownTerms = ({ terms }: Data) => terms.filter(({ name }) => name !== 'query');

/** All schemes, and beside them the chosen one taken apart; on a phone that comes first. */
function arrange(data: Data, state: State, width: number) {
  const narrow = width < 700;
  // In a beat the picture shares a window with its settings and tools.
  const small = !narrow && width < 1000;
  const gallery = narrow ? width : Math.round(0.4 * width);
  const tiles = multiples(gallery, 76, narrow ? 8 : 4, 10);
  const tileHeight = titleHeight(true) + (narrow ? tiles.width : Math.min(small ? 49 : 58, tiles.width));
  const tileStep = tileHeight + 11;
  const tileRows = Math.ceil(ids.length / tiles.columns) * tileStep;
  const x = narrow ? 0 : gallery + 28;
  const wide = width - x;
  const text: { text: string; runs?: Run[] }[] = [
    ...wrapped(kinds[state.scheme].says, Math.max(150, wide), 7.5).map((text) => ({ text })),
    ...formulaLines(data.tex, Math.floor(wide / 9)),
  ];
  const name = 16;
  // With room for the longest, so that maps do not move when another scheme is chosen.
  const partsY = name + 23 * (narrow ? text.length : Math.max(3, text.length)) + 12;
  const grid = multiples(wide, 140, 4, 10);
  const rowOf = (side: number) => titleHeight() + side + 10;
  const shown = shownTerms(data).length + 2;
  const rowsOf = (parts: number) => Math.ceil(parts / grid.columns);
  // Of one token three maps vary, which share the room of the eight of many.
  const rows = rowsOf(narrow ? shown : state.words === 'one' ? Math.max(3, shown) : 8);
  const room = (rowsOf(8) * rowOf(small ? 50 : 84)) / rows - rowOf(0);
  const side = Math.min(grid.width, narrow ? 150 : room);
  const partRow = narrow ? rowOf(side) : rowOf(room);
  const partKeys = partsY + rows * partRow + 2;
  const softmaxKey = wide < 430 ? { x, y: partKeys + 38 } : { x: x + wide / 2, y: partKeys };
  const kernel = { x, y: softmaxKey.y + 38, width: wide, height: narrow ? 150 : small ? 90 : 106 };
  const end = kernel.y + kernel.height;
  const tilesY = narrow ? end + 20 : 0;
  const tilesKey = tilesY + tileRows + 4;
  const keyed = askedTerms.filter((term) => term !== 'query').map((term) => askedLabels[term]);
  const keys = multiples(gallery, 150, 3, 6);
  // The key has room for all, so that the picture's height does not depend on which are seen.
  const seen = askedTerms.flatMap((term, place) =>
    term !== 'query' && Object.values(data.schemes).some(({ shares }) => (shares[place] ?? 0) >= leastSeen)
      ? [askedLabels[term]]
      : [],
  );
  const legend = seen.flatMap((entry, place) => {
    const { row, x } = keys.at(place);
    return lineKey(x, tilesKey + 28 + 18 * row, [entry]);
  });
  return {
    /** For a long label beside the maps' colours. */
    roomy: gallery >= 400,
    x,
    tile(place: number): Area {
      const { row, x } = tiles.at(place);
      return {
        x,
        y: tilesY + row * tileStep,
        width: tileHeight - titleHeight(true),
        height: tileHeight,
      };
    },
    tilesKey,
    legend,
    name,
    lines: text,
    part(place: number): Area {
      const { row, x: within } = grid.at(place);
      return { x: x + within, y: partsY + row * partRow, width: side, height: titleHeight() + side };
    },
    scoreKey: { x, y: partKeys },
    softmaxKey,
    kernel,
    height: Math.max(end, tilesKey + 30 + 18 * Math.ceil(keyed.length / keys.columns)),
  };
}

function kernelPlane({ n, reach }: Data, area: Area) {
  const end = reach > below ? reach : 1;
  return plane(
    area,
    { from: 1 - n, to: n - 1, label: 'offset: key − query, in tokens', nice: false },
    {
      from: -end,
      to: end,
      label: 'mean at that offset − mean of all',
      ticks: area.height < 120 ? 2 : 4,
    },
  );
}
