// What can be set in the figure "One sum, two readers", and its picture.
import { aboutPercent, percent } from '../plot/format.js';
import { type Area, horizontal, largestMagnitude, rowBars, textAt, wrapped } from '../plot/parts.js';
import type { Mark, Region, Scene, Term } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { termLabels, terms } from './terms.js';
import { sentenceControl } from './trainedModel.js';

export const head = { kind: 'range', min: 0, max: 11, step: 1, more: true } as const;

export const controls = {
  terms: {
    kind: 'choice',
    label: 'Terms of the scores',
    options: { added: 'Added', cross: 'Cross terms off', positions: 'Positions off' },
    initial: 'added',
    radio: true,
  },
  word: { kind: 'range', more: true, label: 'Chosen token', min: 0, max: 31, step: 1, initial: 8 },
  text: sentenceControl,
  // The first head reads places, the second words.
  places: { ...head, label: 'Reader 1: head', initial: 2 },
  words: { ...head, label: 'Reader 2: head', initial: 1 },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export type Rows = Float64Array;

/** The most tokens of a sentence. */
export const longest = 32;

export type Table = { data: Rows; rows: number; columns: number };

export interface Reader {
  head: number;
  /** Softmax of the terms that are on, [n, n]. */
  attention: Rows;
  /** Softmax of all terms. */
  whole: Rows;
  /** Shares of all terms, on or off. */
  shares: number[];
  /** The largest change of an attention weight when terms are left out. */
  change: number;
}

export interface Readers {
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

/** Channels that are drawn. */
export const drawnChannels = 48;

const offTerms: Record<State['terms'], readonly Term[]> = {
  added: [],
  cross: ['token-position', 'position-token'],
  positions: ['token-position', 'position-token', 'position-position'],
};

/** What a head reads, by the term with the largest share. */
export function reads({ shares }: Reader): { term: Term; says: string } {
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

/** A row of attention: that of the chosen token. */
export const ofChosen = (attention: Rows, { chosen, tokens }: Readers): Rows =>
  attention.slice(chosen * tokens.length, (chosen + 1) * tokens.length);

export const weights = ({ attention }: Reader, data: Readers): Rows => ofChosen(attention, data);

/**
 * The one or two words that get the most attention, leaving out [CLS] and [SEP], which take the attention
 * that goes to no word.
 */
export function most(row: Rows): { place: number; weight: number }[] {
  const words = [...row]
    .map((weight, place) => ({ place, weight }))
    .slice(1, -1)
    .sort((a, b) => b.weight - a.weight);
  return words.filter(({ weight }, rank) => rank === 0 || (rank === 1 && weight > 0.1));
}

export function readerScene(data: Readers, state: State, width: number): Scene {
  const { bars, readers, note, height } = arrange(data, width);
  const marks: Mark[] = [...barsOf(data, state, bars, width)];
  const regions: Region[] = [];
  data.readers.forEach((reader, which) => {
    const drawn = readerOf(data, state, reader, readers[which] as Area, width);
    marks.push(...drawn.marks);
    regions.push(drawn.region);
  });
  marks.push(...note.lines.map((line, k) => textAt(note.x, note.y + 18 * k, line)));
  return { width, height, marks, regions };
}

const narrowOf = (width: number) => width < 620;

const wordSize = 15;
/** The width of a letter in pixels, estimated generously. */
const letter = 8.4;

const wordWidth = (word: string) => Math.max(16, letter * word.length + 6);

const wordHeight = 24;
/** The height of a head's name and of the line below it, in pixels. */
const titled = 38;

interface Placed {
  x: number;
  wide: number;
  line: number;
}

/** The words of the sentence in lines of this width, and how far arcs rise above each line. */
function flow(tokens: readonly string[], width: number, narrow: boolean) {
  let [x, line] = [0, 0];
  const placed = tokens.map((token): Placed => {
    const wide = Math.min(wordWidth(token), width);
    if (x > 0 && x + wide > width) {
      x = 0;
      line += 1;
    }
    const here = { x, wide, line };
    x += wide + 3;
    return here;
  });
  const rise = line === 0 ? (narrow ? 46 : 96) : narrow ? 20 : 52;
  return { placed, rise, height: (line + 1) * (rise + wordHeight) };
}

const notes = [
  'Bars: what makes each head’s scores vary.',
  'Grey arcs: to [CLS] and [SEP], which are no words.',
];

/** Bars on the left and readers on the right; on a phone, one below the other. */
function arrange({ tokens }: Readers, width: number) {
  const narrow = narrowOf(width);
  const left = narrow ? width : Math.min(300, 0.3 * width);
  const x = narrow ? 0 : left + 36;
  const wide = width - x;
  const high = titled + 27 + flow(tokens, wide, narrow).height;
  const top = narrow ? 86 : 0;
  const gap = narrow ? 10 : 22;
  const readers = [0, 1].map(
    (place): Area => ({ x, y: top + place * (high + gap), width: wide, height: high }),
  );
  const below = top + 2 * high + gap;
  const lines = notes.flatMap((note) => wrapped(note, wide, 6.6));
  const end = below + 18 * lines.length;
  const bars: Area = { x: 0, y: 0, width: left, height: narrow ? 76 : Math.max(280, end) };
  return {
    bars,
    readers,
    note: { x, y: below + 14, lines },
    height: Math.max(end, bars.height) + 4,
  };
}

/**
 * The bars of x, p and their sum, one below another, or side by side on a phone. When positions are left out,
 * their bars are hollow, and the sum is the token alone.
 */
function barsOf(data: Readers, { terms: which }: State, area: Area, width: number): Mark[] {
  const narrow = narrowOf(width);
  const isOff = which === 'positions';
  const limit = largestMagnitude([data.token, data.position, data.sum]) || 1;
  const whole = isOff ? '= the token alone' : '= the sum that both heads read';
  const strips = [
    { values: data.token, ink: 'token-token', text: quoted(data, data.chosen), hollow: false },
    {
      values: data.position,
      ink: 'position-position',
      text: isOff ? `+ position${narrow ? '' : ` ${data.chosen}`}: off` : `+ position ${data.chosen}`,
      hollow: isOff,
    },
    {
      values: isOff ? data.token : data.sum,
      ink: 'ink',
      text: narrow ? (isOff ? '= the token' : '= the sum') : whole,
      hollow: false,
    },
  ] as const;
  const across = narrow ? (area.width - 20) / 3 : area.width;
  const down = narrow ? area.height : area.height / 3;
  const marks = strips.flatMap(({ values, ink, text, hollow }, place): Mark[] => {
    const x = narrow ? place * (across + 10) : 0;
    const y = narrow ? 0 : place * down;
    const box: Area = { x, y: y + 22, width: across, height: down - (narrow ? 36 : 40) };
    const bars = rowBars(box, values, limit, ink);
    return [
      textAt(x, y + 14, text, { ink: 'ink', bold: true }),
      { mark: 'box', ...box, fill: 'field' },
      hollow ? { mark: 'path', d: bars.d, stroke: ink, wide: 1 } : bars,
      horizontal({ inner: box }, box.y + box.height / 2, { ink: 'quiet' }),
    ];
  });
  const note = `the first ${data.token.length} of ${data.channels} channels`;
  return [...marks, textAt(0, area.height - 2, note)];
}

/** [CLS] and [SEP]. */
const isMarker = (place: number, { tokens }: Readers) => place === 0 || place === tokens.length - 1;

/** A token in quotation marks, cut to a length that fits. */
function quoted({ tokens }: Readers, place: number): string {
  const token = tokens[place] as string;
  return `“${token.length > 9 ? `${token.slice(0, 8)}…` : token}”`;
}

/**
 * What the chosen token looks at most, in words and, when terms are left out, also what it looked at before.
 */
function looksAt(reader: Reader, data: Readers, isWhole: boolean): string {
  const of = (row: Rows, colon = '') => {
    const [top] = most(row);
    return top ? `${quoted(data, top.place)}${colon} ${aboutPercent(top.weight)}` : 'no word';
  };
  const who = `${quoted(data, data.chosen)} looks`;
  const now = weights(reader, data);
  return isWhole
    ? `${who} most at ${of(now, ':')}`
    : `${who} at ${of(now)}, before ${of(ofChosen(reader.whole, data))}`;
}

/** A head: what it reads, the sentence with the attention it pays, and the shares of its scores. */
function readerOf(data: Readers, { terms: which }: State, reader: Reader, area: Area, width: number) {
  const { term, says } = reads(reader);
  const { tokens, chosen } = data;
  const attention = weights(reader, data);
  const { placed, rise, height } = flow(tokens, area.width, narrowOf(width));
  const boxes = placed.map(
    ({ x, wide, line }): Area => ({
      x: area.x + x,
      y: area.y + titled + rise + line * (rise + wordHeight),
      width: wide,
      height: wordHeight,
    }),
  );
  const marks: Mark[] = [
    textAt(area.x, area.y + 14, `Head ${reader.head} ${says}`, { ink: term, size: 15, bold: true }),
    textAt(area.x, area.y + 34, looksAt(reader, data, which === 'added'), { ink: 'ink' }),
  ];
  marks.push(...arcsOf(reader, data, boxes, rise, term));
  boxes.forEach((box, place) => {
    const weight = attention[place] as number;
    // Pale enough for the word to be read on it.
    const fill = isMarker(place, data) ? 'quiet' : term;
    marks.push({ mark: 'box', ...box, fill, opacity: 0.48 * weight });
    if (place === chosen) marks.push({ mark: 'box', ...box, stroke: 'ink', wide: 1.5 });
    marks.push(
      textAt(
        middleOf(box),
        box.y + 17,
        box.width < letter * (tokens[place] as string).length
          ? `${(tokens[place] as string).slice(0, Math.floor(box.width / letter) - 2)}…`
          : (tokens[place] as string),
        { anchor: 'middle', ink: 'ink', size: wordSize, bold: weight > 0.2 || place === chosen },
      ),
    );
  });
  marks.push(
    ...shareBar(reader, offTerms[which], { ...area, y: area.y + titled + 6 + height, height: 20 }, width),
  );
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

/** An arc above a line of words, or between two lines. */
function arcPath(from: Area, to: Area, rise: number): string {
  const [a, b] = [middleOf(from), middleOf(to)];
  const facing = (box: Area, other: Area) => (box.y < other.y ? box.y + wordHeight + 2 : box.y - 2);
  const [y1, y2] = [facing(from, to), facing(to, from)];
  const turn = y1 === y2 ? y1 - 1.25 * Math.min(rise - 6, 10 + 0.16 * Math.abs(a - b)) : (y1 + y2) / 2;
  return `M${a},${y1}C${a},${turn} ${b},${turn} ${b},${y2}`;
}

/**
 * Each token's attention as arcs in the colour of what the head reads, strong for the chosen token; small
 * weights are left out. Arcs to markers are grey, because markers take the attention that goes to no word.
 */
function arcsOf({ attention }: Reader, data: Readers, boxes: Area[], rise: number, term: Term): Mark[] {
  const { tokens, chosen } = data;
  const n = tokens.length;
  const arc = (from: number, to: number): Mark => {
    const weight = attention[from * n + to] as number;
    const strong = from === chosen;
    return {
      mark: 'path',
      d: arcPath(boxes[from] as Area, boxes[to] as Area, rise),
      stroke: isMarker(to, data) ? 'quiet' : term,
      wide: strong ? 1 + 3 * weight : 1 + 0.8 * weight,
      opacity: strong ? 1 : 0.49 * weight,
    };
  };
  const marks: Mark[] = [];
  for (let from = 0; from < n; from++) {
    for (let to = 0; to < n; to++) {
      const weight = attention[from * n + to] as number;
      if (from !== to && from !== chosen && weight >= 0.15) marks.push(arc(from, to));
    }
  }
  for (let to = 0; to < n; to++) {
    const weight = attention[chosen * n + to] as number;
    if (to !== chosen && weight >= 0.05) marks.push(arc(chosen, to));
  }
  return marks;
}

/** The shares of variation as a bar. Terms that are off are outlined, and negative shares are left out. */
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
    const fits = wide > 7.7 * label.length + 8;
    return [
      isGone
        ? { mark: 'box', x: from, y: area.y + 1, width: wide, height: area.height - 2, stroke: term, term }
        : { mark: 'box', x: from, y: area.y, width: wide, height: area.height, fill: term, term },
      ...(fits
        ? [
            textAt(from + 6, area.y + 14, isGone ? `${label}: off` : label, {
              ink: isGone ? 'ink' : 'paper',
              bold: true,
              term,
            }),
          ]
        : []),
    ];
  });
}
