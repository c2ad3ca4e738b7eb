// Figure "Token, position and their sum": channel by channel, at two places, beside the two joined end to end.
import type { First, Table } from 'superpose';
import { about, readable, signed } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { type Area, largestMagnitude } from '../plot/parts.js';
import type { Cursor, Ink, Mark, Region } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, DataTable, Figure, Library } from './figure.js';
import { rawRows, rawTable } from './gaugeControl.js';
import { fetching, mostTokens, sentenceControl, sentenceRemark, tokensControl } from './sentence.js';

const controls = {
  tokens: tokensControl,
  word: { kind: 'range', label: 'Which token', min: 0, max: 127, step: 1, initial: 2 },
  first: { kind: 'range', label: 'At place i', min: 0, max: 127, step: 1, initial: 3 },
  second: { kind: 'range', label: 'And at place j', min: 0, max: 127, step: 1, initial: 20 },
  d: {
    kind: 'steps',
    more: true,
    label: 'Width d',
    values: [2, 4, 8, 16, 32, 64, 128, 256, 512],
    initial: 32,
  },
  scale: { kind: 'range', more: true, label: 'Position scale ρ', min: 0, max: 4, step: 0.05, initial: 1 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  text: sentenceControl,
} as const satisfies Controls;

type State = StateOf<typeof controls>;
type Row = Float64Array;

interface Place {
  /** ρp */
  position: Row;
  /** x + ρp */
  sum: Row;
  length: number;
  /** Of the sum and the bare token. */
  cosine: number;
}

interface Data {
  word: string;
  remark: string;
  token: Row;
  places: [Place, Place];
  /** Sum at j minus sum at i, and position at j minus position at i. */
  moved: Row;
  shift: Row;
  /** The largest difference between the two. */
  gap: number;
  /** Cosine of the two sums, and of the two joined vectors. */
  cosine: number;
  joinedCosine: number;
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.first();
  const { first, second, scale } = state;
  const { word, remark, token, position } =
    state.tokens === 'seeded' ? seeded(superpose, state) : await fromModel(library, state);
  const atPlaces = table([...rowOf(position, first), ...rowOf(position, second)], 2);
  const twice = table([...token.data, ...token.data], 2);
  const added = superpose.bertEmbeddings({ token: twice, position: atPlaces, positionScale: scale });
  const { sum, summands } = added;
  const scaled = summands.position;
  const lengths = superpose.rowLengths(sum);
  const withToken = superpose.rowCosines(token, sum).data;
  // The second place minus the first.
  const less = (of: Table<Row>) =>
    superpose.bertEmbeddings({
      token: table(rowOf(of, 1), 1),
      position: table(rowOf(of, 0), 1),
      positionScale: -1,
    }).sum.data;
  const joined = table(
    [0, 1].flatMap((row) => [...token.data, ...rowOf(scaled, row)]),
    2,
  );
  const placeOf = (row: 0 | 1): Place => ({
    position: rowOf(scaled, row),
    sum: rowOf(sum, row),
    length: lengths[row] as number,
    cosine: withToken[row] as number,
  });
  const [moved, shift] = [less(sum), less(scaled)];
  return {
    word,
    remark,
    token: token.data,
    places: [placeOf(0), placeOf(1)],
    moved,
    shift,
    gap: superpose.largestDifference(moved, shift),
    cosine: superpose.rowCosines(sum, sum).data[1] as number,
    joinedCosine: superpose.rowCosines(joined, joined).data[1] as number,
  };
};

const at = (values: ArrayLike<number>, place: number) => values[place] ?? Number.NaN;
const table = (values: ArrayLike<number>, rows: number): Table<Row> => ({
  data: Float64Array.from(values),
  rows,
  columns: values.length / rows,
});
const rowOf = ({ data, columns }: Table<Row>, row: number) => data.slice(row * columns, (row + 1) * columns);

function seeded(superpose: First, { word, first, second, d, seed }: State) {
  // All tokens up to this one are drawn, so that each number keeps its word.
  const tokens = superpose.randomNormal({ rows: word + 1, columns: d, seed });
  const position = superpose.sinusoidal({ positions: Math.max(first, second) + 1, d_model: d });
  return { word: `token ${word}`, remark: '', token: table(rowOf(tokens, word), 1), position };
}

async function fromModel(library: Library, { text, word, first, second }: State) {
  const model = await library.miniLM();
  const { ids, tokens, dropped } = model.tokenize(text, mostTokens);
  const which = Math.min(word, tokens.length - 1);
  // The same word at every place up to the later one: its row, and the model's own positions.
  const everywhere = {
    ids: Array.from({ length: Math.max(first, second) + 1 }, () => ids[which] as number),
    tokens: [],
    dropped: 0,
  };
  const { token, position } = await model.summands(everywhere);
  const fewer = which < word ? `The sentence has ${tokens.length} tokens; the last one is shown. ` : '';
  return {
    word: tokens[which] as string,
    remark:
      `${fewer}${sentenceRemark(tokens, dropped)} The model also adds a segment vector and normalises the sum; both are left out here.`.trim(),
    token: table(rowOf(token, 0), 1),
    position,
  };
}

export const figure: Figure<typeof controls, Data> = {
  name: 'mixing',
  title: 'Token, position and their sum, channel by channel',
  controls,
  source: ({ tokens }) => (tokens === 'seeded' ? 'seeded' : 'trained'),
  waiting: fetching,
  unused: ({ tokens }) => (tokens === 'seeded' ? ['text'] : ['d', 'seed']),

  scene(data, state, width) {
    const { strips, texts, height } = arrange(data, state, width);
    const limit = limitOf(data);
    const regions = strips.map(
      ({ area }): Region => ({ ...area, pick: 'across', rows: 1, columns: data.token.length }),
    );
    return {
      width,
      height,
      marks: [...strips.flatMap((strip) => barsOf(strip, limit)), ...texts],
      regions,
    };
  },

  /** In the sums, what the token and the position contribute to the channel. */
  focus(data, state, { j }, width) {
    const { strips } = arrange(data, state, width);
    return strips.flatMap(({ area, place }): Mark[] => {
      if (place === undefined || !(j < data.token.length)) return [];
      const { up, pitch } = scaleOf(area, limitOf(data), data.token.length);
      const wide = Math.max(pitch, 8) / 2;
      const middle = Math.max(
        area.x + wide,
        Math.min(area.x + area.width - wide, area.x + (j + 0.5) * pitch),
      );
      const token = at(data.token, j);
      const piece = (x: number, from: number, to: number, fill: Ink): Mark => ({
        mark: 'box',
        x,
        y: Math.min(up(from), up(to)),
        width: wide,
        height: Math.abs(up(to) - up(from)),
        fill,
      });
      return [
        { mark: 'box', x: middle - wide, y: area.y, width: 2 * wide, height: area.height, fill: 'field' },
        piece(middle - wide, 0, token, 'token-token'),
        piece(middle, token, at(data.places[place].sum, j), 'position-position'),
      ];
    });
  },

  describe({ token, places, gap, cosine, joinedCosine }, { tokens, first, second }) {
    const [here, there] = places;
    const opposite = here.sum.filter((value, channel) => value * at(token, channel) < 0).length;
    const sums =
      first === second
        ? 'Both places are the same, and so are the sums.'
        : `The two sums, of norms ${about(here.length)} and ${about(there.length)}, have cosine ${about(cosine)} with each other (joined: ${about(joinedCosine)}). They differ by ρ(p${lowered(second)} − p${lowered(first)}) and nothing else, ${howExactly(gap)}.`;
    return `In ${opposite} of ${token.length} channels the sum at place ${first} does not even have the token’s sign; its cosine with the whole token is ${about(here.cosine)}, and at place ${second} ${about(there.cosine)}. ${sums}${tokens === 'seeded' ? '' : rawRows}`;
  },

  cells: ({ token }) => ({ rows: 1, columns: token.length }),
  firstCursor: mostHidden,

  readout({ token, places, word }, { first, second }, { j }) {
    const piece = (place: Place, name: number) => [
      `; at place ${name} `,
      { text: `token ${readable(at(token, j))}`, ink: 'token-token' as const },
      ' ',
      { text: `position ${signed(at(place.position, j))}`, ink: 'position-position' as const },
      ` = sum ${readable(at(place.sum, j))}`,
    ];
    return [
      { text: word, strong: true },
      `, channel ${j}`,
      ...piece(places[0], first),
      ...piece(places[1], second),
      '. Joined, each keeps its own number.',
    ];
  },

  remark: ({ remark }) => remark,

  table({ token, places: [here, there], moved, shift }, { tokens, first, second }) {
    const found: DataTable = {
      columns: [
        'channel',
        'token',
        `position ${first}`,
        `sum at ${first}`,
        `position ${second}`,
        `sum at ${second}`,
        'difference of the sums',
        'difference of the positions',
      ],
      rows: Array.from(token, (value, channel) => [
        channel,
        value,
        at(here.position, channel),
        at(here.sum, channel),
        at(there.position, channel),
        at(there.sum, channel),
        at(moved, channel),
        at(shift, channel),
      ]),
    };
    return rawTable(tokens !== 'seeded', found);
  },
};

const lowered = (number: number) =>
  String(number).replace(/\d/g, (digit) => '₀₁₂₃₄₅₆₇₈₉'[Number(digit)] as string);

interface Strip {
  area: Area;
  values: Row;
  ink: Ink;
  /** For a sum: which place. */
  place?: 0 | 1;
}

/** Two columns of equal width. A joined vector is twice as wide, so it takes both. */
function arrange({ token, places, moved, shift, word }: Data, { first, second }: State, width: number) {
  const narrow = width < 560;
  const gap = narrow ? 14 : 28;
  const column = (width - gap) / 2;
  const [title, high, space] = [19, narrow ? 40 : 48, 8];
  const strips: Strip[] = [];
  const texts: Mark[] = [];
  let y = 0;
  const write = (x: number, text: string, ink: Ink = 'quiet', bold = false) => {
    texts.push({ mark: 'text', x, y: y + 13, text, ink, bold, size: bold ? 13 : 12 });
  };
  const row = (left: Omit<Strip, 'area'>, right: Omit<Strip, 'area'>) => {
    for (const [x, strip] of [
      [0, left],
      [column + gap, right],
    ] as const)
      strips.push({ ...strip, area: { x, y, width: column, height: high } });
    y += high + space;
  };
  const xs = [0, column + gap] as const;
  const names = [first, second] as const;
  const most = narrow ? 8 : 24;
  const short = word.length > most ? `${word.slice(0, most - 1)}…` : word;
  names.forEach((name, side) => {
    write(xs[side] as number, `“${short}” at ${narrow ? '' : 'place '}${name}`, 'ink', true);
  });
  y += 22;
  for (const x of xs) write(x, 'token x', 'ink');
  y += title;
  row({ values: token, ink: 'token-token' }, { values: token, ink: 'token-token' });
  names.forEach((name, side) => {
    write(xs[side] as number, `+ position ρp${lowered(name)}`, 'ink');
  });
  y += title;
  row(
    { values: places[0].position, ink: 'position-position' },
    { values: places[1].position, ink: 'position-position' },
  );
  names.forEach((name, side) => {
    write(xs[side] as number, `= sum x + ρp${lowered(name)}`, 'ink');
  });
  y += title;
  row({ values: places[0].sum, ink: 'ink', place: 0 }, { values: places[1].sum, ink: 'ink', place: 1 });
  y += 8;
  write(0, `Joined${narrow ? '' : ' instead'}: [x; ρp${lowered(first)}], twice as wide`, 'ink', true);
  y += 22;
  row({ values: token, ink: 'token-token' }, { values: places[0].position, ink: 'position-position' });
  y += 8;
  write(
    0,
    narrow ? 'From one place to the other' : 'What going from one place to the other changes',
    'ink',
    true,
  );
  y += 22;
  write(0, narrow ? 'in the sum' : `in the sum: at ${second} less at ${first}`, 'ink');
  write(column + gap, `ρ(p${lowered(second)} − p${lowered(first)})`, 'ink');
  y += title;
  row({ values: moved, ink: 'ink' }, { values: shift, ink: 'position-position' });
  const limit = readable(limitOf({ token, places, moved, shift } as Data));
  write(
    0,
    narrow
      ? `Bars: −${limit} to ${limit}; channel 0 first`
      : `Bars: −${limit} to ${limit}, one scale for all; channels 0 to ${token.length - 1} from left to right`,
  );
  return { strips, texts, height: y + 22 };
}

const limitOf = ({ token, places, moved, shift }: Data) =>
  largestMagnitude([token, moved, shift, ...places.flatMap(({ position, sum }) => [position, sum])]) || 1;

function scaleOf(area: Area, limit: number, channels: number) {
  const zero = area.y + area.height / 2;
  return {
    up: (value: number) => zero - (value / limit) * (area.height / 2),
    pitch: area.width / channels,
  };
}

function barsOf({ area, values, ink }: Strip, limit: number): Mark[] {
  const { up, pitch } = scaleOf(area, limit, values.length);
  const space = pitch > 5 ? 1.5 : 0;
  const zero = up(0).toFixed(1);
  const d = Array.from(values, (value, channel) => {
    const left = (area.x + channel * pitch + space / 2).toFixed(2);
    return `M${left},${zero}V${up(value).toFixed(2)}h${(pitch - space).toFixed(2)}V${zero}Z`;
  }).join('');
  return [
    { mark: 'box', ...area, fill: 'field' },
    { mark: 'path', d, fill: ink },
    { mark: 'line', x1: area.x, x2: area.x + area.width, y1: up(0), y2: up(0), ink: 'quiet' },
  ];
}

/** The channel in which token and position hide each other most. */
function mostHidden({ token, places: [here] }: Data): Cursor {
  const hidden = Array.from(
    token,
    (value, channel) =>
      Math.min(Math.abs(value), Math.abs(at(here.position, channel))) - Math.abs(at(here.sum, channel)),
  );
  return { i: 0, j: hidden.indexOf(Math.max(...hidden)) };
}
