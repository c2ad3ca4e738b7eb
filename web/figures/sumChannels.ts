// One channel of the sum after another, at two places: the second view of the figure "One sum, two readers".
import { openingText } from 'superpose';
import { about, readable } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { largestMagnitude, textAt } from '../plot/parts.js';
import type { Cursor, Ink, Mark, Region, Scene } from '../plot/scene.js';
import type { Library } from './figure.js';
import { rawRows } from './gaugeControl.js';
import { at, longest, type Rows, type State, type Table } from './sumControls.js';
import { drawnChannels } from './sumReaders.js';
import { type Strip, stripBars } from './sumStrips.js';

export interface PlacedWord {
  /** ρp */
  position: Rows;
  /** x + ρp */
  sum: Rows;
  length: number;
  /** Of the sum and the bare token. */
  cosine: number;
}

/** One word's row at two places. */
export interface Channels {
  tokens: readonly string[];
  dropped: number;
  chosen: number;
  token: Rows;
  places: [PlacedWord, PlacedWord];
  /** Sum at j minus sum at i, and position at j minus position at i. */
  moved: Rows;
  shift: Rows;
  /** The largest difference between the two. */
  gap: number;
  /** Cosine of the two sums, and of the two joined vectors. */
  cosine: number;
  joinedCosine: number;
}

export const table = (values: ArrayLike<number>, rows: number): Table => ({
  data: Float64Array.from(values),
  rows,
  columns: values.length / rows,
});

const rowOf = ({ data, columns }: Table, row: number) => data.slice(row * columns, (row + 1) * columns);

/** The word's row, and rows of positions up to the later place. The opening's file has those of its sentence. */
async function rowsOf(library: Library, { text, word, first, second }: State) {
  const far = Math.max(first, second);
  if (text === openingText) {
    const { tokens, summands } = await library.opening();
    if (far < tokens.length) {
      const chosen = Math.min(word, tokens.length - 1);
      const token = table(rowOf(summands.token, chosen), 1);
      return { tokens, dropped: 0, chosen, token, position: summands.position };
    }
  }
  const model = await library.miniLM();
  const { ids, tokens, dropped } = model.tokenize(text, longest);
  const chosen = Math.min(word, tokens.length - 1);
  // The same word at every place up to the later one, perhaps past the sentence's end.
  const everywhere = Array.from({ length: far + 1 }, () => ids[chosen] as number);
  const { token, position } = await model.summands({ ids: everywhere, tokens: [], dropped: 0 });
  return { tokens, dropped, chosen, token: table(rowOf(token, 0), 1), position };
}

export async function channels(library: Library, state: State): Promise<Channels> {
  const superpose = await library.small();
  const { first, second, scale } = state;
  const { tokens, dropped, chosen, token, position } = await rowsOf(library, state);
  const atPlaces = table([...rowOf(position, first), ...rowOf(position, second)], 2);
  const twice = table([...token.data, ...token.data], 2);
  const added = superpose.bertEmbeddings({ token: twice, position: atPlaces, positionScale: scale });
  const { sum, summands } = added;
  const scaled = summands.position;
  const lengths = superpose.rowLengths(sum);
  const withToken = superpose.rowCosines(token, sum).data;
  // The second place minus the first.
  const less = (of: Table) => superpose.difference(rowOf(of, 1), rowOf(of, 0));
  const joined = table(
    [0, 1].flatMap((row) => [...token.data, ...rowOf(scaled, row)]),
    2,
  );
  const placeOf = (row: 0 | 1): PlacedWord => ({
    position: rowOf(scaled, row),
    sum: rowOf(sum, row),
    length: lengths[row] as number,
    cosine: withToken[row] as number,
  });
  const [moved, shift] = [less(sum), less(scaled)];
  return {
    tokens,
    dropped,
    chosen,
    token: token.data,
    places: [placeOf(0), placeOf(1)],
    moved,
    shift,
    gap: superpose.largestDifference(moved, shift),
    cosine: superpose.rowCosines(sum, sum).data[1] as number,
    joinedCosine: superpose.rowCosines(joined, joined).data[1] as number,
  };
}

export function channelScene(whole: Channels, state: State, width: number): Scene {
  const data = drawnOf(whole);
  const { strips, texts, height } = arrangeStrips(data, state, width);
  const limit = limitOf(data);
  const regions = strips.map(
    ({ area }): Region => ({ ...area, pick: 'across', rows: 1, columns: drawnChannels }),
  );
  return {
    width,
    height,
    marks: [...strips.flatMap((strip) => stripBars(strip, limit)), ...texts],
    regions,
  };
}

export function channelFinding(
  { token, places, gap, cosine, joinedCosine }: Channels,
  { first, second }: State,
): string {
  const [here, there] = places;
  const opposite = here.sum.filter((value, channel) => value * at(token, channel) < 0).length;
  const sums =
    first === second
      ? 'Both positions are the same, and so are the sums.'
      : `The two sums, of norms ${about(here.length)} and ${about(there.length)}, have cosine ${about(cosine)} with each other (concatenated: ${about(joinedCosine)}). They differ by ρ(p${lowered(second)} − p${lowered(first)}) and nothing else, ${howExactly(gap)}.`;
  return `Whose a channel is, the sum does not say. In ${opposite} of ${token.length} channels the sum at position ${first} does not even have the token’s sign; its cosine with the whole token is ${about(here.cosine)}, and at position ${second} ${about(there.cosine)}. ${sums}${rawRows}`;
}

const lowered = (number: number) =>
  String(number).replace(/\d/g, (digit) => '₀₁₂₃₄₅₆₇₈₉'[Number(digit)] as string);

/** Two columns of equal width. A joined vector is twice as wide, so it takes both. */
export function arrangeStrips(data: Channels, { first, second }: State, width: number) {
  const { token, places, moved, shift } = data;
  const word = data.tokens[data.chosen] as string;
  const narrow = width < 560;
  const gap = narrow ? 14 : 28;
  const column = (width - gap) / 2;
  const [title, high, space] = [19, narrow ? 40 : 48, 8];
  const strips: Strip[] = [];
  const texts: Mark[] = [];
  let y = 0;
  const write = (x: number, text: string, ink: Ink = 'quiet', bold = false) => {
    texts.push(textAt(x, y + 13, text, { ink, bold, size: bold ? 13 : 12 }));
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
    write(xs[side] as number, `“${short}” at ${narrow ? '' : 'position '}${name}`, 'ink', true);
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
  write(0, `Concatenated${narrow ? '' : ' instead'}: [x; ρp${lowered(first)}], twice as wide`, 'ink', true);
  y += 22;
  row({ values: token, ink: 'token-token' }, { values: places[0].position, ink: 'position-position' });
  y += 8;
  write(
    0,
    narrow ? 'From one position to the other' : 'What going from one position to the other changes',
    'ink',
    true,
  );
  y += 22;
  write(0, narrow ? 'in the sum' : `in the sum: at ${second} less at ${first}`, 'ink');
  write(column + gap, `ρ(p${lowered(second)} − p${lowered(first)})`, 'ink');
  y += title;
  row({ values: moved, ink: 'ink' }, { values: shift, ink: 'position-position' });
  const limit = readable(limitOf(data));
  write(
    0,
    narrow
      ? `Bars: −${limit} to ${limit}; channel 0 first`
      : `Bars: −${limit} to ${limit}, one scale for all; channels 0 to ${token.length - 1} from left to right`,
  );
  return { strips, texts, height: y + 22 };
}

/** As much of it as is drawn. */
export function drawnOf(data: Channels): Channels {
  const of = (values: Rows) => values.slice(0, drawnChannels);
  const [here, there] = data.places.map((place) => ({
    ...place,
    position: of(place.position),
    sum: of(place.sum),
  })) as Channels['places'];
  return {
    ...data,
    token: of(data.token),
    moved: of(data.moved),
    shift: of(data.shift),
    places: [here, there],
  };
}

export const limitOf = ({ token, places, moved, shift }: Channels) =>
  largestMagnitude([token, moved, shift, ...places.flatMap(({ position, sum }) => [position, sum])]) || 1;

/** The channel in which token and position hide each other most. */
export function mostHidden({ token, places: [here] }: Channels): Cursor {
  const hidden = Array.from(
    token,
    (value, channel) =>
      Math.min(Math.abs(value), Math.abs(at(here.position, channel))) - Math.abs(at(here.sum, channel)),
  );
  return { i: 0, j: hidden.indexOf(Math.max(...hidden)) };
}
