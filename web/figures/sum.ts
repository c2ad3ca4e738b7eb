// Figure "One sum, two readers": a word's vector and its place's, their sum, and what two heads of the first layer make
// of such sums: one reads places, the other words. And the sum channel by channel, at two places, beside the two
// vectors concatenated.
import { openingHeads, openingText, type PooledShares, type Scores } from 'superpose';
import { about, aboutPercent, percent, readable, signed } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { type Area, largestMagnitude } from '../plot/parts.js';
import type { Cursor, Ink, Mark, Region, Scene, Term } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Library, ReadoutPiece } from './figure.js';
import { rawRows, withGauge } from './gaugeControl.js';
import { fetching, nothingToShare, sentenceControl, sentenceRemark } from './sentence.js';
import { groups, kindOf, termLabels, terms } from './terms.js';

const head = { kind: 'range', min: 0, max: 11, step: 1, more: true } as const;
const controls = {
  of: {
    kind: 'choice',
    label: 'Show',
    options: { readers: 'Two readers', channels: 'Channel by channel' },
    initial: 'readers',
    radio: true,
  },
  terms: {
    kind: 'choice',
    label: 'Terms of the scores',
    options: { added: 'Added', cross: 'Cross terms off', positions: 'Positions off' },
    initial: 'added',
    radio: true,
  },
  word: { kind: 'range', more: true, label: 'Chosen token', min: 0, max: 31, step: 1, initial: 8 },
  first: { kind: 'range', label: 'At position i', min: 0, max: 127, step: 1, initial: 3 },
  second: { kind: 'range', label: 'And at position j', min: 0, max: 127, step: 1, initial: 12 },
  scale: { kind: 'range', more: true, label: 'Position scale ρ', min: 0, max: 4, step: 0.05, initial: 1 },
  text: sentenceControl,
  places: { ...head, label: 'Reader 1: head', initial: openingHeads[0] as number },
  words: { ...head, label: 'Reader 2: head', initial: openingHeads[1] as number },
} as const satisfies Controls;

type State = StateOf<typeof controls>;
type Rows = Float64Array;

interface Reader {
  head: number;
  /** Softmax of the terms that are on, [n, n]. */
  attention: Rows;
  /** Shares of all terms, on or off. */
  shares: number[];
  /** The largest change of an attention weight when the terms are left out. */
  change: number;
}

interface Readers {
  tokens: readonly string[];
  dropped: number;
  chosen: number;
  /** The first channels of the word's row, of its place's, and of their sum. */
  token: Rows;
  position: Rows;
  sum: Rows;
  channels: number;
  readers: Reader[];
}

interface PlacedWord {
  /** ρp */
  position: Rows;
  /** x + ρp */
  sum: Rows;
  length: number;
  /** Of the sum and the bare token. */
  cosine: number;
}

/** One word's row at two places. */
interface Channels {
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

type Data = Readers | Channels;

const isChannels = (data: Data): data is Channels => 'places' in data;

/** The most tokens of a sentence. */
const longest = 32;
/** Channels that are drawn. */
const drawnChannels = 48;

/** Which of nine terms each choice leaves out: number 3 s + r is query group s with key group r. */
const isOff: Record<State['terms'], (term: number) => boolean> = {
  added: () => false,
  cross: (term) => term === 1 || term === 3,
  positions: (term) => Math.floor(term / 3) === 1 || term % 3 === 1,
};
const offTerms: Record<State['terms'], readonly Term[]> = {
  added: [],
  cross: ['token-position', 'position-token'],
  positions: ['token-position', 'position-token', 'position-position'],
};

interface SplitScores {
  scores: Scores<Float64Array>;
  shares: PooledShares;
  token: Table;
  position: Table;
  tokens: readonly string[];
  dropped: number;
}
type Table = { data: Rows; rows: number; columns: number };

/** Choosing another word, or another head for one reader, must not take apart again what is known. */
async function takeApart(library: Library, text: string, head: number): Promise<SplitScores> {
  const heads = library.kept('sum', text, () => new Map<number, SplitScores>());
  const known = heads.get(head);
  if (known) return known;
  const superpose = await library.small();
  let found: Omit<SplitScores, 'shares'>;
  if (text === openingText && openingHeads.includes(head)) {
    const { tokens, summands, decompose } = await library.opening();
    found = { scores: decompose({ groups }), ...summands, tokens, dropped: 0 };
  } else {
    const model = await library.miniLM();
    const sentence = model.tokenize(text, longest);
    const [scores, summands] = await Promise.all([
      model.decompose(sentence, { only: [head], groups }),
      model.summands(sentence),
    ]);
    found = { scores, ...summands, tokens: sentence.tokens, dropped: sentence.dropped };
  }
  const taken = { ...found, shares: superpose.poolShares([found.scores], kindOf) };
  for (const one of found.scores.heads) heads.set(one, taken);
  return taken;
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  if (state.of === 'channels') return channels(library, state);
  const superpose = await library.small();
  const { text, places, words } = state;
  const [ofPlaces, ofWords] = [await takeApart(library, text, places), await takeApart(library, text, words)];
  const { token, position, tokens, dropped } = ofPlaces;
  const chosen = Math.min(state.word, tokens.length - 1);
  const row = ({ data, columns }: Table): Table => ({
    data: data.slice(chosen * columns, (chosen + 1) * columns),
    rows: 1,
    columns,
  });
  const [x, p] = [row(token), row(position)];
  const { sum } = superpose.bertEmbeddings({ token: x, position: p });
  const every = Array.from({ length: kindOf.length }, () => true);
  const masks = [every, every.map((_, term) => !isOff[state.terms](term))];
  const reader = (of: number, { scores, shares }: SplitScores): Reader => {
    const [whole, attention] = superpose.combineTerms(scores, of, masks).map(({ softmax }) => softmax) as [
      Rows,
      Rows,
    ];
    const place = scores.heads.indexOf(of);
    const table = (data: Rows): Table => ({ data, rows: tokens.length, columns: tokens.length });
    return {
      head: of,
      attention,
      shares: [...shares.heads.slice(place * terms.length, (place + 1) * terms.length)],
      change: superpose.largestDifference(table(whole).data, table(attention).data),
    };
  };
  const shown = ({ data }: Table) => data.slice(0, drawnChannels);
  return {
    tokens,
    dropped,
    chosen,
    token: shown(x),
    position: shown(p),
    sum: shown(sum),
    channels: token.columns,
    readers: [reader(places, ofPlaces), reader(words, ofWords)],
  };
};

const at = (values: ArrayLike<number>, place: number) => values[place] ?? Number.NaN;
const table = (values: ArrayLike<number>, rows: number): Table => ({
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

async function channels(library: Library, state: State): Promise<Channels> {
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

/** What a head reads, by the term with the largest share. */
function reads({ shares }: Reader): { term: Term; says: string } {
  const most = Math.max(...shares);
  const term = terms[shares.indexOf(most)] ?? 'rest';
  const says = {
    'token-token': 'reads tokens',
    'position-position': 'reads positions',
    'token-position': 'has tokens look for positions',
    'position-token': 'has positions look for tokens',
    rest: 'weighs each token by itself',
  };
  return { term, says: says[term] };
}

const weights = ({ attention }: Reader, { chosen, tokens }: Readers): Rows =>
  attention.slice(chosen * tokens.length, (chosen + 1) * tokens.length);

/** The one or two words that get most, most first, but not [CLS] and [SEP], which catch what no word gets. */
function most(reader: Reader, data: Readers): { place: number; weight: number }[] {
  const words = [...weights(reader, data)]
    .map((weight, place) => ({ place, weight }))
    .slice(1, -1)
    .sort((one, other) => other.weight - one.weight);
  return words.filter(({ weight }, rank) => rank === 0 || (rank === 1 && weight > 0.1));
}

const meanings: Record<State['terms'], string> = {
  added: '',
  cross: 'Off: token → position and position → token, in the canonical gauge; σ and the row of [CLS] stay. ',
  positions: 'Off: every term with a position in it, in the canonical gauge; σ and the row of [CLS] stay. ',
};

export const figure: Figure<typeof controls, Data> = {
  name: 'sum',
  title: 'One sum, two readers',
  controls,
  module: 'small',
  source: () => 'trained',
  waiting: fetching,
  enters: true,
  chooses: ({ of }) => (of === 'readers' ? 'word' : undefined),
  unused: ({ of }) => (of === 'channels' ? ['terms', 'places', 'words'] : ['first', 'second', 'scale']),

  scene: (data, state, width) =>
    isChannels(data) ? channelScene(data, state, width) : readerScene(data, state, width),

  /** In the sums, what the token and the position contribute to the channel. */
  focus(whole, state, { j }, width) {
    if (!isChannels(whole)) return [];
    const data = drawnOf(whole);
    const { strips } = arrangeStrips(data, state, width);
    return strips.flatMap(({ area, place }): Mark[] => {
      if (place === undefined || !(j < drawnChannels)) return [];
      const { up, pitch } = scaleOf(area, limitOf(data), drawnChannels);
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

  describe(data, state) {
    if (isChannels(data)) return channelFinding(data, state);
    const [places, words] = data.readers as [Reader, Reader];
    if (!Number.isFinite(places.shares[0] ?? Number.NaN)) {
      return nothingToShare({ gauge: 'canonical' }, data.tokens.length);
    }
    const says = (reader: Reader) =>
      most(reader, data)
        .map(({ place, weight }) => {
          const before = place === data.chosen - 1 ? ', the token before it' : '';
          return `“${data.tokens[place]}”${before} (${aboutPercent(weight)})`;
        })
        .join(' and ') || 'no token';
    const change =
      state.terms === 'added'
        ? ''
        : ` No weight changes by more than ${aboutPercent(places.change)} of a head’s attention in head ${places.head}, and ${aboutPercent(words.change)} in head ${words.head}.`;
    const tops = [places, words].map((reader) => most(reader, data)[0]?.place);
    const named = tops.map((place) => (place === undefined ? 'no token' : `“${data.tokens[place]}”`));
    const head =
      tops[0] === tops[1]
        ? `Both heads look at ${named[0]}.`
        : `From one sum, head ${places.head} finds ${named[0]} and head ${words.head} ${named[1]}.`;
    return `${meanings[state.terms] || `${head} `}From “${data.tokens[data.chosen]}”, the token that head ${places.head} looks at most is ${says(places)}; head ${words.head}, reading the same sums, looks at ${says(words)}, [CLS] and [SEP] apart.${change || ' Shares: canonical gauge.'}`;
  },

  named: ({ tokens }) => ({ word: tokens }),
  cells: (data) => ({ rows: 1, columns: isChannels(data) ? drawnChannels : data.tokens.length }),
  follows: ['terms', 'word'],
  firstCursor: (data): Cursor =>
    isChannels(data)
      ? mostHidden(drawnOf(data))
      : { i: 0, j: most(data.readers[1] as Reader, data)[0]?.place ?? 0 },

  readout(data, { first, second }, { j }) {
    if (isChannels(data)) {
      const { token, places } = data;
      const piece = (place: PlacedWord, name: number) => [
        `; at position ${name} `,
        { text: `token ${readable(at(token, j))}`, ink: 'token-token' as const },
        ' ',
        { text: `position ${signed(at(place.position, j))}`, ink: 'position-position' as const },
        ` = sum ${readable(at(place.sum, j))}`,
      ];
      return [
        { text: data.tokens[data.chosen] ?? '', strong: true },
        `, channel ${j}`,
        ...piece(places[0], first),
        ...piece(places[1], second),
        '. Concatenated, each keeps its own number.',
      ];
    }
    return [
      'From ',
      { text: data.tokens[data.chosen] ?? '', strong: true },
      ` (${data.chosen}) to `,
      { text: data.tokens[j] ?? '', strong: true },
      ` (${j}): `,
      ...data.readers.flatMap((reader, which): ReadoutPiece[] => [
        {
          text: `head ${reader.head} ${percent(weights(reader, data)[j] ?? Number.NaN)}`,
          ink: reads(reader).term,
        },
        which === 0 ? ', ' : ' of its attention.',
      ]),
    ];
  },

  remark: (data) =>
    `${sentenceRemark(data.tokens, data.dropped)}${isChannels(data) ? ' The model also adds a segment vector and normalizes the sum; both are left out here.' : ''}`.trim(),

  table(data, { first, second }) {
    if (isChannels(data)) {
      const { token, places, moved, shift } = data;
      const [here, there] = places;
      return withGauge(
        {
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
        },
        'raw',
      );
    }
    return withGauge(
      {
        columns: ['position', 'token', ...data.readers.map((reader) => `attention of head ${reader.head}`)],
        rows: data.tokens.map((token, place) => [
          place,
          token,
          ...data.readers.map((reader) => weights(reader, data)[place] as number),
        ]),
      },
      'canonical',
    );
  },
};

function readerScene(data: Readers, state: State, width: number): Scene {
  const { bars, readers, height } = arrange(data, width);
  const marks: Mark[] = [...barsOf(data, bars, width)];
  const regions: Region[] = [];
  data.readers.forEach((reader, which) => {
    const drawn = readerOf(data, state, reader, readers[which] as Area, width);
    marks.push(...drawn.marks);
    regions.push(drawn.region);
  });
  return { width, height, marks, regions };
}

function channelScene(whole: Channels, state: State, width: number): Scene {
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

function channelFinding(
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

const narrowOf = (width: number) => width < 620;
/** Pixels per letter, rather too many than too few. */
const letter = 6.9;
const wordWidth = (word: string) => Math.max(14, letter * word.length + 8);
const wordHeight = 22;

interface Placed {
  x: number;
  wide: number;
  line: number;
}

/** The words of the sentence in lines of this width, and how far arcs rise above each line. */
function flow(tokens: readonly string[], width: number) {
  let [x, line] = [0, 0];
  const placed = tokens.map((token): Placed => {
    const wide = Math.min(wordWidth(token), width);
    if (x > 0 && x + wide > width) {
      x = 0;
      line += 1;
    }
    const here = { x, wide, line };
    x += wide + 2;
    return here;
  });
  const rise = line === 0 ? 46 : 15;
  return { placed, rise, height: (line + 1) * (rise + wordHeight) };
}

/** Bars on the left and readers on the right; on a phone, one below the other. */
function arrange({ tokens }: Readers, width: number) {
  const narrow = narrowOf(width);
  const left = narrow ? width : Math.min(300, 0.3 * width);
  const x = narrow ? 0 : left + 36;
  const wide = width - x;
  const high = 58 + flow(tokens, wide).height;
  const top = narrow ? 96 : 0;
  const gap = narrow ? 4 : 20;
  const readers = [0, 1].map(
    (place): Area => ({ x, y: top + place * (high + gap), width: wide, height: high }),
  );
  const below = top + 2 * high + gap;
  const bars: Area = { x: 0, y: 0, width: left, height: narrow ? 84 : Math.max(270, below - 6) };
  return { bars, readers, height: Math.max(below, bars.height) + 2 };
}

/** x + p = sum: below one another, or side by side on a phone. */
function barsOf(data: Readers, area: Area, width: number): Mark[] {
  const narrow = narrowOf(width);
  const limit = largestMagnitude([data.token, data.position, data.sum]) || 1;
  const word = data.tokens[data.chosen] as string;
  const short = word.length > 12 ? `${word.slice(0, 11)}…` : word;
  const strips = [
    { values: data.token, ink: 'token-token', text: `“${short}”`, enter: 'first' },
    { values: data.position, ink: 'position-position', text: `+ position ${data.chosen}`, enter: 'second' },
    {
      values: data.sum,
      ink: 'ink',
      text: narrow ? '= the sum' : '= the sum that both heads read',
      enter: 'third',
    },
  ] as const;
  const across = narrow ? (area.width - 20) / 3 : area.width;
  const down = narrow ? area.height : area.height / 3;
  const marks = strips.flatMap(({ values, ink, text, enter }, place): Mark[] => {
    const x = narrow ? place * (across + 10) : 0;
    const y = narrow ? 0 : place * down;
    const box: Area = { x, y: y + 20, width: across, height: down - 34 };
    return [
      { mark: 'text', x, y: y + 13, text, ink: 'ink', size: 13, bold: place === 2 || !narrow, enter },
      ...stripBars({ area: box, values, ink }, limit, enter),
    ];
  });
  const note = `${data.token.length} of ${data.channels} channels`;
  return [...marks, { mark: 'text', x: 0, y: area.height - 1, text: note, size: 11.5 }];
}

/** A head: what it reads, the sentence with what it looks at, and what its scores are made of. */
function readerOf(data: Readers, { terms: which }: State, reader: Reader, area: Area, width: number) {
  const { term, says } = reads(reader);
  const { tokens, chosen } = data;
  const given = weights(reader, data);
  const { placed, rise, height } = flow(tokens, area.width);
  const boxes = placed.map(
    ({ x, wide, line }): Area => ({
      x: area.x + x,
      y: area.y + 24 + rise + line * (rise + wordHeight),
      width: wide,
      height: wordHeight,
    }),
  );
  const marks: Mark[] = [
    {
      mark: 'text',
      x: area.x,
      y: area.y + 14,
      text: `Head ${reader.head} ${says}`,
      ink: 'ink',
      size: 15,
      bold: true,
    },
  ];
  marks.push(...arcsOf(reader, data, boxes, rise));
  boxes.forEach((box, place) => {
    const weight = given[place] as number;
    // Pale enough for the word to be read on it.
    marks.push({ mark: 'box', ...box, fill: term, opacity: 0.48 * weight, enter: 'last' });
    if (place === chosen) marks.push({ mark: 'box', ...box, stroke: 'ink', wide: 1.5 });
    marks.push({
      mark: 'text',
      x: middleOf(box),
      y: box.y + 15,
      text:
        box.width < letter * (tokens[place] as string).length
          ? `${(tokens[place] as string).slice(0, Math.floor(box.width / letter) - 2)}…`
          : (tokens[place] as string),
      anchor: 'middle',
      ink: 'ink',
      size: 12,
      bold: weight > 0.2 || place === chosen,
    });
  });
  marks.push(...shareBar(reader, offTerms[which], { ...area, y: area.y + 32 + height, height: 20 }, width));
  const region: Region = {
    ...area,
    pick: {
      points: {
        x: boxes.map(middleOf),
        y: boxes.map(({ y }) => y + wordHeight / 2),
        cursors: boxes.map((_, j) => ({ i: 0, j })),
        boxes,
      },
    },
    rows: 1,
    columns: tokens.length,
  };
  return { marks, region };
}

const middleOf = ({ x, width }: Area) => x + width / 2;

/** Above a line, or from one line to another between them. */
function arcPath(from: Area, to: Area, rise: number): string {
  const [a, b] = [middleOf(from), middleOf(to)];
  const facing = (one: Area, other: Area) => (one.y < other.y ? one.y + wordHeight + 2 : one.y - 2);
  const [y1, y2] = [facing(from, to), facing(to, from)];
  const turn = y1 === y2 ? y1 - 1.25 * Math.min(rise - 6, 10 + 0.16 * Math.abs(a - b)) : (y1 + y2) / 2;
  return `M${a},${y1}C${a},${turn} ${b},${turn} ${b},${y2}`;
}

/** Every word's attention as arcs, the chosen one's strong; what is small is left out. */
function arcsOf({ attention }: Reader, { tokens, chosen }: Readers, boxes: Area[], rise: number): Mark[] {
  const n = tokens.length;
  const arc = (from: number, to: number, ink: Ink, weight: number, strong: boolean): Mark => ({
    mark: 'path',
    d: arcPath(boxes[from] as Area, boxes[to] as Area, rise),
    stroke: ink,
    wide: strong ? 1 + 3 * weight : 1,
    opacity: strong ? 1 : 0.48 * weight,
    enter: 'last',
  });
  const marks: Mark[] = [];
  for (let from = 0; from < n; from++) {
    for (let to = 0; to < n; to++) {
      const weight = attention[from * n + to] as number;
      if (from === to || from === chosen || weight < 0.15) continue;
      marks.push(arc(from, to, 'quiet', weight, false));
    }
  }
  for (let to = 0; to < n; to++) {
    const weight = attention[chosen * n + to] as number;
    if (to !== chosen && weight >= 0.05) marks.push(arc(chosen, to, 'ink', weight, true));
  }
  return marks;
}

/** Shares of variation as one bar; terms that are off are outlines, negative ones are left out. */
function shareBar({ shares }: Reader, off: readonly Term[], area: Area, width: number): Mark[] {
  const total = shares.reduce((sum, share) => sum + Math.max(0, share), 0);
  if (!Number.isFinite(total) || total === 0) return [];
  let x = area.x;
  return terms.flatMap((term, kind): Mark[] => {
    const share = Math.max(0, shares[kind] as number);
    const wide = (share / total) * area.width;
    const from = x;
    x += wide;
    const label =
      `${percent(shares[kind] as number)} ${narrowOf(width) && wide < 190 ? '' : termLabels[term]}`.trim();
    const isGone = off.includes(term);
    const fits = wide > 6.9 * label.length + 8;
    return [
      isGone
        ? { mark: 'box', x: from, y: area.y + 1, width: wide, height: area.height - 2, stroke: term, term }
        : { mark: 'box', x: from, y: area.y, width: wide, height: area.height, fill: term, term },
      ...(fits
        ? [
            {
              mark: 'text',
              x: from + 6,
              y: area.y + 14,
              text: isGone ? `${label}: off` : label,
              ink: isGone ? 'ink' : 'paper',
              size: 12,
              bold: true,
              term,
            } as const,
          ]
        : []),
    ];
  });
}

const lowered = (number: number) =>
  String(number).replace(/\d/g, (digit) => '₀₁₂₃₄₅₆₇₈₉'[Number(digit)] as string);

interface Strip {
  area: Area;
  values: Rows;
  ink: Ink;
  /** For a sum: which place. */
  place?: 0 | 1;
}

/** Two columns of equal width. A joined vector is twice as wide, so it takes both. */
function arrangeStrips(data: Channels, { first, second }: State, width: number) {
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
function drawnOf(data: Channels): Channels {
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

const limitOf = ({ token, places, moved, shift }: Channels) =>
  largestMagnitude([token, moved, shift, ...places.flatMap(({ position, sum }) => [position, sum])]) || 1;

function scaleOf(area: Area, limit: number, channels: number) {
  const zero = area.y + area.height / 2;
  return {
    up: (value: number) => zero - (value / limit) * (area.height / 2),
    pitch: area.width / channels,
  };
}

function stripBars({ area, values, ink }: Strip, limit: number, enter?: Mark['enter']): Mark[] {
  const { up, pitch } = scaleOf(area, limit, values.length);
  const space = pitch > 5 ? 1.5 : 0;
  const zero = up(0).toFixed(1);
  const d = Array.from(values, (value, channel) => {
    const left = (area.x + channel * pitch + space / 2).toFixed(2);
    return `M${left},${zero}V${up(value).toFixed(2)}h${(pitch - space).toFixed(2)}V${zero}Z`;
  }).join('');
  return [
    { mark: 'box', ...area, fill: 'field' },
    { mark: 'path', d, fill: ink, ...(enter && { enter }) },
    { mark: 'line', x1: area.x, x2: area.x + area.width, y1: up(0), y2: up(0), ink: 'quiet' },
  ];
}

/** The channel in which token and position hide each other most. */
function mostHidden({ token, places: [here] }: Channels): Cursor {
  const hidden = Array.from(
    token,
    (value, channel) =>
      Math.min(Math.abs(value), Math.abs(at(here.position, channel))) - Math.abs(at(here.sum, channel)),
  );
  return { i: 0, j: hidden.indexOf(Math.max(...hidden)) };
}
