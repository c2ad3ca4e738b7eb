// Figure "One sum, two readers": a word's vector and its place's, their sum, and what two heads of the first layer make
// of such sums: one reads places, the other words.
import { openingHeads, openingText, type PooledShares, type Scores } from 'superpose';
import { aboutPercent, percent } from '../plot/format.js';
import { type Area, largestMagnitude } from '../plot/parts.js';
import type { Cursor, Ink, Mark, Region, Term } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Library, Said } from './figure.js';
import { withGauge } from './gaugeControl.js';
import { fetching, nothingToShare, sentenceControl, sentenceRemark } from './sentence.js';
import { groups, kindOf, termLabels, terms } from './terms.js';

const head = { kind: 'range', min: 0, max: 11, step: 1, more: true } as const;
const controls = {
  terms: {
    kind: 'choice',
    label: 'Terms of the scores',
    options: { added: 'Added', cross: 'Cross terms off', positions: 'Positions off' },
    initial: 'added',
    radio: true,
  },
  word: { kind: 'range', label: 'Chosen word', min: 0, max: 31, step: 1, initial: 8 },
  text: sentenceControl,
  places: { ...head, label: 'Left reader: head', initial: openingHeads[0] as number },
  words: { ...head, label: 'Right reader: head', initial: openingHeads[1] as number },
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

interface Data {
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

interface Taken {
  scores: Scores<Float64Array>;
  shares: PooledShares;
  token: Table;
  position: Table;
  tokens: readonly string[];
  dropped: number;
}
type Table = { data: Rows; rows: number; columns: number };

// Choosing another word must not take the scores apart again.
let last: { key: string; taken: Taken } | undefined;

async function takeApart(library: Library, { text, places, words }: State): Promise<Taken> {
  const key = JSON.stringify([text, places, words]);
  if (last?.key === key) return last.taken;
  const superpose = await library.first();
  const heads = [...new Set([places, words])];
  let found: Omit<Taken, 'shares'>;
  if (text === openingText && heads.every((one) => openingHeads.includes(one))) {
    const { tokens, summands, decompose } = await library.opening();
    found = { scores: decompose({ groups }), ...summands, tokens, dropped: 0 };
  } else {
    const model = await library.miniLM();
    const sentence = model.tokenize(text, longest);
    const [scores, summands] = await Promise.all([
      model.decompose(sentence, { only: heads, groups }),
      model.summands(sentence),
    ]);
    found = { scores, ...summands, tokens: sentence.tokens, dropped: sentence.dropped };
  }
  const taken = { ...found, shares: superpose.poolShares([found.scores], kindOf) };
  last = { key, taken };
  return taken;
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.first();
  const { scores, shares, token, position, tokens, dropped } = await takeApart(library, state);
  const chosen = Math.min(state.word, tokens.length - 1);
  const row = ({ data, columns }: Table): Table => ({
    data: data.slice(chosen * columns, (chosen + 1) * columns),
    rows: 1,
    columns,
  });
  const [x, p] = [row(token), row(position)];
  const { sum } = superpose.bertEmbeddings({ token: x, position: p });
  const softmax = (of: number, on: (term: number) => boolean) =>
    superpose.combineTerms(
      scores,
      of,
      Array.from({ length: kindOf.length }, (_, term) => on(term)),
    ).softmax;
  const readers = [state.places, state.words].map((of): Reader => {
    const whole = softmax(of, () => true);
    const attention = softmax(of, (term) => !isOff[state.terms](term));
    const place = scores.heads.indexOf(of);
    const table = (data: Rows): Table => ({ data, rows: tokens.length, columns: tokens.length });
    return {
      head: of,
      attention,
      shares: [...shares.heads.slice(place * terms.length, (place + 1) * terms.length)],
      change: superpose.largestDifference(table(whole).data, table(attention).data),
    };
  });
  const shown = ({ data }: Table) => data.slice(0, drawnChannels);
  return {
    tokens,
    dropped,
    chosen,
    token: shown(x),
    position: shown(p),
    sum: shown(sum),
    channels: token.columns,
    readers,
  };
};

/** What a head reads, by the term with the largest share. */
function reads({ shares }: Reader): { term: Term; says: string } {
  const most = Math.max(...shares);
  const term = terms[shares.indexOf(most)] ?? 'rest';
  const says = {
    'token-token': 'reads words',
    'position-position': 'reads places',
    'token-position': 'has words look for places',
    'position-token': 'has places look for words',
    rest: 'weighs each word by itself',
  };
  return { term, says: says[term] };
}

const weights = ({ attention }: Reader, { chosen, tokens }: Data): Rows =>
  attention.slice(chosen * tokens.length, (chosen + 1) * tokens.length);

/** The one or two words that get most, most first, but not [CLS] and [SEP], which catch what no word gets. */
function most(reader: Reader, data: Data): { place: number; weight: number }[] {
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
  source: () => 'trained',
  waiting: fetching,
  enters: true,
  chooses: 'word',

  scene(data, state, width) {
    const { bars, readers, height } = arrange(data, width);
    const marks: Mark[] = [...barsOf(data, bars, width)];
    const regions: Region[] = [];
    data.readers.forEach((reader, which) => {
      const drawn = readerOf(data, state, reader, readers[which] as Area, width);
      marks.push(...drawn.marks);
      regions.push(drawn.region);
    });
    return { width, height, marks, regions };
  },

  describe(data, state) {
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
        .join(' and ') || 'no word';
    const change =
      state.terms === 'added'
        ? ''
        : ` No weight changes by more than ${aboutPercent(places.change)} of a head’s attention in head ${places.head}, and ${aboutPercent(words.change)} in head ${words.head}.`;
    return `${meanings[state.terms]}From “${data.tokens[data.chosen]}”, the word head ${places.head} looks at most is ${says(places)}; head ${words.head}, reading the same sums, looks at ${says(words)}.${change || ' Shares: canonical gauge.'}`;
  },

  named: ({ tokens }) => ({ word: tokens }),
  cells: ({ tokens }) => ({ rows: 1, columns: tokens.length }),
  follows: ['terms', 'word'],
  firstCursor: (data): Cursor => ({ i: 0, j: most(data.readers[1] as Reader, data)[0]?.place ?? 0 }),

  readout(data, _, { j }) {
    return [
      'From ',
      { text: data.tokens[data.chosen] ?? '', strong: true },
      ` (${data.chosen}) to `,
      { text: data.tokens[j] ?? '', strong: true },
      ` (${j}): `,
      ...data.readers.flatMap((reader, which): Said[] => [
        {
          text: `head ${reader.head} ${percent(weights(reader, data)[j] ?? Number.NaN)}`,
          ink: reads(reader).term,
        },
        which === 0 ? ', ' : ' of its attention.',
      ]),
    ];
  },

  remark: ({ tokens, dropped }) => sentenceRemark(tokens, dropped),

  table: (data) =>
    withGauge(
      {
        columns: ['place', 'token', ...data.readers.map((reader) => `attention of head ${reader.head}`)],
        rows: data.tokens.map((token, place) => [
          place,
          token,
          ...data.readers.map((reader) => weights(reader, data)[place] as number),
        ]),
      },
      'canonical',
    ),
};

const narrowOf = (width: number) => width < 620;
/** Pixels per letter, rather too many than too few. */
const letter = 6.9;
const wordWidth = (word: string) => Math.max(14, letter * word.length + 8);
const lineHeight = 26;
const arcs = 46;

interface Placed {
  x: number;
  y: number;
  wide: number;
}

/** The words of the sentence in lines of this width. */
function flow(tokens: readonly string[], width: number): { placed: Placed[]; lines: number } {
  let [x, line] = [0, 0];
  const placed = tokens.map((token) => {
    const wide = Math.min(wordWidth(token), width);
    if (x > 0 && x + wide > width) {
      x = 0;
      line += 1;
    }
    const here = { x, y: line * lineHeight, wide };
    x += wide + 2;
    return here;
  });
  return { placed, lines: line + 1 };
}

/** Bars on the left and readers on the right; on a phone, one below the other. */
function arrange({ tokens }: Data, width: number) {
  const narrow = narrowOf(width);
  const left = narrow ? width : Math.min(300, 0.3 * width);
  const x = narrow ? 0 : left + 36;
  const wide = width - x;
  const { lines } = flow(tokens, wide);
  const high = 24 + (lines === 1 ? arcs : 4) + lines * lineHeight + 30;
  const top = narrow ? 116 : 0;
  const gap = narrow ? 8 : 20;
  const readers = [0, 1].map(
    (place): Area => ({ x, y: top + place * (high + gap), width: wide, height: high }),
  );
  const below = top + 2 * high + gap;
  const bars: Area = { x: 0, y: 0, width: left, height: narrow ? 100 : Math.max(270, below - 6) };
  return { bars, readers, height: Math.max(below, bars.height) + 2 };
}

/** x + p = sum: below one another, or side by side on a phone. */
function barsOf(data: Data, area: Area, width: number): Mark[] {
  const narrow = narrowOf(width);
  const limit = largestMagnitude([data.token, data.position, data.sum]) || 1;
  const word = data.tokens[data.chosen] as string;
  const short = word.length > 12 ? `${word.slice(0, 11)}…` : word;
  const strips = [
    { values: data.token, ink: 'token-token', text: `“${short}”`, enter: 'first' },
    { values: data.position, ink: 'position-position', text: `+ place ${data.chosen}`, enter: 'second' },
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
      { mark: 'box', ...box, fill: 'field' },
      { mark: 'path', d: barsPath(values, box, limit), fill: ink as Ink, enter },
      {
        mark: 'line',
        x1: x,
        x2: x + across,
        y1: box.y + box.height / 2,
        y2: box.y + box.height / 2,
        ink: 'quiet',
      },
    ];
  });
  const note = `${data.token.length} of ${data.channels} channels`;
  return [...marks, { mark: 'text', x: 0, y: area.height - 1, text: note, size: 11.5 }];
}

function barsPath(values: Rows, { x, y, width, height }: Area, limit: number): string {
  const zero = y + height / 2;
  const pitch = width / values.length;
  return Array.from(values, (value, channel) => {
    const top = zero - (value / limit) * (height / 2);
    return `M${(x + channel * pitch).toFixed(1)},${zero}V${top.toFixed(1)}h${(pitch * 0.8).toFixed(1)}V${zero}Z`;
  }).join('');
}

/** A head: what it reads, the sentence with what it looks at, and what its scores are made of. */
function readerOf(data: Data, { terms: which }: State, reader: Reader, area: Area, width: number) {
  const { term, says } = reads(reader);
  const { tokens, chosen } = data;
  const given = weights(reader, data);
  const { placed, lines } = flow(tokens, area.width);
  const top = area.y + 24 + (lines === 1 ? arcs : 4);
  const middle = ({ x, wide }: Placed) => area.x + x + wide / 2;
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
  if (lines === 1) marks.push(...arcsOf(reader, data, placed.map(middle), top));
  placed.forEach(({ x, y, wide }, place) => {
    const box = { x: area.x + x, y: top + y, width: wide, height: lineHeight - 4 };
    const weight = given[place] as number;
    // Pale enough for the word to be read on it.
    marks.push({ mark: 'box', ...box, fill: term, opacity: 0.48 * weight, enter: 'last' });
    if (place === chosen) marks.push({ mark: 'box', ...box, stroke: 'ink', wide: 1.5 });
    marks.push({
      mark: 'text',
      x: box.x + wide / 2,
      y: box.y + 15,
      text:
        wide < letter * (tokens[place] as string).length
          ? `${(tokens[place] as string).slice(0, Math.floor(wide / letter) - 2)}…`
          : (tokens[place] as string),
      anchor: 'middle',
      ink: 'ink',
      size: 12,
      bold: weight > 0.2 || place === chosen,
    });
  });
  marks.push(
    ...shareBar(reader, offTerms[which], { ...area, y: top + lines * lineHeight + 4, height: 20 }, width),
  );
  const at = placed.map((one) => ({ x: middle(one), y: top + one.y + 11 }));
  const region: Region = {
    ...area,
    pick: {
      points: {
        x: at.map(({ x }) => x),
        y: at.map(({ y }) => y),
        cursors: at.map((_, j) => ({ i: 0, j })),
        boxes: placed.map(({ wide }) => ({ width: wide, height: lineHeight - 4 })),
      },
    },
    rows: 1,
    columns: tokens.length,
  };
  return { marks, region };
}

/** Every word's attention as arcs, the chosen one's strong; what is small is left out. */
function arcsOf({ attention }: Reader, { tokens, chosen }: Data, x: number[], y: number): Mark[] {
  const n = tokens.length;
  const arc = (from: number, to: number, ink: Ink, weight: number, strong: boolean): Mark => {
    const [a, b] = [x[from] as number, x[to] as number];
    const high = Math.min(arcs - 6, 10 + 0.16 * Math.abs(a - b));
    return {
      mark: 'path',
      d: `M${a},${y - 2}C${a},${y - 2 - 1.25 * high} ${b},${y - 2 - 1.25 * high} ${b},${y - 2}`,
      stroke: ink,
      wide: strong ? 1 + 3 * weight : 1,
      opacity: strong ? 1 : 0.48 * weight,
      enter: 'last',
    };
  };
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
