// Figure "One sum, two readers": a word's vector and its place's, their sum, and what two heads of the first layer make
// of such sums: one reads places, the other words. And the sum channel by channel, at two places, beside the two
// vectors concatenated.
import { openingHeads, openingText, type PooledShares, type Scores } from 'superpose';
import { aboutPercent, percent, readable, signed } from '../plot/format.js';
import type { Cursor, Ink, Mark } from '../plot/scene.js';
import type { Compute, Figure, Library, ReadoutPiece } from './figure.js';
import { withGauge } from './gaugeControl.js';
import { fetching, nothingToShare, sentenceRemark } from './sentence.js';
import {
  arrangeStrips,
  type Channels,
  channelFinding,
  channelScene,
  channels,
  drawnOf,
  limitOf,
  mostHidden,
  type PlacedWord,
} from './sumChannels.js';
import { at, controls, longest, type Rows, type State, type Table } from './sumControls.js';
import { drawnChannels, most, type Reader, type Readers, readerScene, reads, weights } from './sumReaders.js';
import { scaleOf } from './sumStrips.js';
import { groups, kindOf, terms } from './terms.js';

type Data = Readers | Channels;

const isChannels = (data: Data): data is Channels => 'places' in data;

/** Which of nine terms each choice leaves out: number 3 s + r is query group s with key group r. */
const isOff: Record<State['terms'], (term: number) => boolean> = {
  added: () => false,
  cross: (term) => term === 1 || term === 3,
  positions: (term) => Math.floor(term / 3) === 1 || term % 3 === 1,
};

interface SplitScores {
  scores: Scores<Float64Array>;
  shares: PooledShares;
  token: Table;
  position: Table;
  tokens: readonly string[];
  dropped: number;
}

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
