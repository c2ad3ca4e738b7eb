// Figure "One sum, two readers": a word's vector, its position's vector and their sum, and how two heads of
// the first layer read such sums: one reads positions, the other words.
import type { PooledShares, Scores } from 'add-or-concatenate';
import { aboutPercent, percent } from '../plot/format.js';
import type { Compute, Figure, Library, ReadoutPiece } from './figure.js';
import {
  controls,
  drawnChannels,
  longest,
  most,
  ofChosen,
  type Reader,
  type Readers,
  type Rows,
  readerScene,
  reads,
  type State,
  type Table,
  weights,
} from './sumReaders.js';
import { groups, kindOf, terms } from './terms.js';
import {
  excludedRows,
  fetching,
  firstLayer,
  nothingToShare,
  sentenceRemark,
  withGauge,
} from './trainedModel.js';

/** Which of the nine terms each choice leaves out; term 3 s + r is query group s with key group r. */
const isOff: Record<State['terms'], (term: number) => boolean> = {
  added: () => false,
  cross: (term) => term === 1 || term === 3,
  positions: (term) => Math.floor(term / 3) === 1 || term % 3 === 1,
};

interface SplitScores {
  scores: Scores;
  shares: PooledShares;
  token: Table;
  position: Table;
  tokens: readonly string[];
  dropped: number;
}

/**
 * Memoizes each head's decomposition, so that choosing another word or another head decomposes nothing twice.
 */
async function takeApart(library: Library, text: string, head: number): Promise<SplitScores> {
  const heads = library.memoize('sum', text, () => new Map<number, SplitScores>());
  const known = heads.get(head);
  if (known) return known;
  const superpose = await library.small();
  const model = await library.miniLM();
  const { ids, tokens, dropped } = await model.tokenize(text, longest);
  const summands = await model.rows({ ids });
  const layer = await firstLayer(library);
  const scores = layer.decompose({ summands, groups, excludedRows, only: [head] });
  const shares = superpose.poolShares([scores], kindOf);
  const taken = { ...summands, scores, shares, tokens, dropped };
  heads.set(head, taken);
  return taken;
}

export const compute: Compute<typeof controls, Readers> = async (library, state) => {
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
  const sum = superpose.sum(x.data, p.data);
  const every = Array.from({ length: kindOf.length }, () => true);
  const masks = [every, every.map((_, term) => !isOff[state.terms](term))];
  const reader = (of: number, { scores, shares }: SplitScores): Reader => {
    const [allTerms, attention] = superpose.combineTerms(scores, of, masks).map(({ softmax }) => softmax) as [
      Rows,
      Rows,
    ];
    const place = scores.heads.indexOf(of);
    const table = (data: Rows): Table => ({ data, rows: tokens.length, columns: tokens.length });
    return {
      head: of,
      attention,
      whole: allTerms,
      shares: [...shares.heads.slice(place * terms.length, (place + 1) * terms.length)],
      change: superpose.largestDifference(table(allTerms).data, table(attention).data),
    };
  };
  const shown = ({ data }: Table) => data.slice(0, drawnChannels);
  return {
    tokens,
    dropped,
    chosen,
    token: shown(x),
    position: shown(p),
    sum: sum.slice(0, drawnChannels),
    channels: token.columns,
    readers: [reader(places, ofPlaces), reader(words, ofWords)],
  };
};

const meanings: Record<State['terms'], string> = {
  added: '',
  cross:
    'Token → position and position → token are left out, in the canonical gauge; σ and the row of [CLS] stay. ',
  positions:
    'Every term with a position in it is left out, in the canonical gauge; σ and the row of [CLS] stay. ',
};

export const figure: Figure<typeof controls, Readers> = {
  name: 'sum',
  title: 'One sum, two readers',
  controls,
  module: 'small',
  source: () => 'trained',
  waiting: fetching,
  chooses: () => 'word',

  scene: readerScene,

  describe(data, state) {
    const [places, words] = data.readers as [Reader, Reader];
    // One head may be constant and the other not.
    if (data.readers.every(({ shares }) => !shares.every(Number.isFinite)))
      return nothingToShare(data.tokens.length);
    const says = (reader: Reader) =>
      most(weights(reader, data))
        .map(({ place, weight }) => {
          const before = place === data.chosen - 1 ? ', the token before it' : '';
          return `“${data.tokens[place]}”${before} (${aboutPercent(weight)})`;
        })
        .join(' and ') || 'no token';
    const change =
      state.terms === 'added'
        ? ''
        : ` No weight changes by more than ${aboutPercent(places.change)} of a head’s attention in head ${places.head}, and ${aboutPercent(words.change)} in head ${words.head}.`;
    const named = (row: Rows) => {
      const [top] = most(row);
      return top ? `“${data.tokens[top.place]}”` : 'no token';
    };
    const [first, second] = [named(weights(places, data)), named(weights(words, data))] as [string, string];
    const before = data.readers.map(({ whole }) => named(ofChosen(whole, data)));
    const keeps = ({ head }: Reader, now: string, was: string | undefined) =>
      `head ${head} ${now === was ? 'still finds' : `loses ${was} and finds`} ${now}`;
    const head =
      state.terms === 'added'
        ? first === second
          ? `Both heads look at ${first}.`
          : `From one sum, head ${places.head} finds ${first} and head ${words.head} ${second}.`
        : `Without ${state.terms === 'cross' ? 'cross terms' : 'positions'}, ${keeps(places, first, before[0])}, ${keeps(words, second, before[1])}.`;
    return `${head} ${meanings[state.terms]}From “${data.tokens[data.chosen]}”, the token that head ${places.head} looks at most is ${says(places)}; head ${words.head}, reading the same sums, looks at ${says(words)}, [CLS] and [SEP] apart.${change || ' Shares are in the canonical gauge.'}`;
  },

  named: ({ tokens }) => ({ word: tokens }),
  cells: (data) => ({ rows: 1, columns: data.tokens.length }),
  follows: ['terms', 'word'],
  firstCursor: (data) => ({ i: 0, j: most(weights(data.readers[1] as Reader, data))[0]?.place ?? 0 }),

  readout(data, _, { j }) {
    return [
      'From ',
      { text: data.tokens[data.chosen] ?? '', strong: true },
      ` (${data.chosen}) to `,
      { text: data.tokens[j] ?? '', strong: true },
      ` (${j}): `,
      ...data.readers.flatMap((reader, which): ReadoutPiece[] => [
        {
          text: `head ${reader.head}: ${percent(weights(reader, data)[j] ?? Number.NaN)}`,
          ink: reads(reader).term,
        },
        which === 0 ? ', ' : ' of its attention.',
      ]),
    ];
  },

  remark: (data) => sentenceRemark(data.tokens, data.dropped),

  table(data) {
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
