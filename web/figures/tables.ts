// Figure "The tables that are added": how long MiniLM's token, position and segment rows are, the cosines
// between tokens and positions, and how alike positions are by distance.
import type { Superpose } from 'superpose';
import { about, readable, signed } from '../plot/format.js';
import {
  type Area,
  colourKey,
  horizontal,
  largestMagnitude,
  lineKey,
  lineThrough,
  map,
  plane,
} from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import type { Controls } from './controls.js';
import type { Figure, TextCompute, TextModel } from './figure.js';
import { rawRows, withGauge } from './gaugeControl.js';
import { fetching, mostTokens, sentenceControl, sentenceRemark } from './sentence.js';

const controls = { text: sentenceControl } as const satisfies Controls;

interface Data {
  tokens: readonly string[];
  dropped: number;
  /** Lengths of the sentence's rows. */
  token: Float64Array;
  tokenMean: number;
  /** Length of the segment's row; NaN without a table of segments. */
  segment: number;
  /** [n, n], token rows down, position rows across. */
  cosines: Float64Array;
  meanSize: number;
  /** Mean |cos| of random directions of the same width. */
  chance: number;
  /** Of all positions, up to 1024: lengths, and the mean cosine of those 1, 2, … apart. */
  position: Float64Array;
  positionMean: number;
  lags: Float64Array;
}

const mostLag = 128;
/** With more rows, the products of all pairs would not fit. */
const mostPositions = 1024;

let last: { model: TextModel; positions: Pick<Data, 'position' | 'positionMean' | 'lags'> } | undefined;

export const compute: TextCompute<typeof controls, Data> = async (library, { text }) => {
  const superpose = await library.superpose();
  const model = await library.miniLM();
  const { tokens, dropped, ids } = await model.tokenize(text, mostTokens);
  if (last?.model !== model) last = { model, positions: await ofPositions(superpose, model) };
  const rows = await model.summands({ ids, tokens, dropped });
  const token = superpose.rowLengths(rows.token);
  const { data: cosines } = superpose.rowCosines(rows.token, rows.position);
  return {
    tokens,
    dropped,
    token,
    tokenMean: superpose.summary(token).mean,
    segment: rows.token_type ? (superpose.rowLengths(rows.token_type)[0] as number) : Number.NaN,
    cosines,
    meanSize: superpose.summary(cosines).meanSize,
    chance: superpose.cosineMeanSize({ d: model.d_model }),
    ...last.positions,
  };
};

/** Asks for any words, because the rows of all positions come with them. */
async function ofPositions(superpose: Superpose, model: TextModel) {
  const ids = new Array<number>(Math.min(model.positions, mostPositions)).fill(0);
  const { position: table } = await model.summands({ ids, tokens: [], dropped: 0 });
  const { means } = superpose.offsetMeans(superpose.rowCosines(table, table));
  const position = superpose.rowLengths(table);
  const { mean: positionMean } = superpose.summary(position);
  return { position, positionMean, lags: means.slice(table.rows, table.rows + mostLag) };
}

const hasSegment = ({ segment }: Data) => !Number.isNaN(segment);

export const figure: Figure<typeof controls, Data> = {
  name: 'tables',
  title: 'The three tables that MiniLM adds up',
  controls,
  source: () => 'trained',
  waiting: fetching,

  scene(data, _, width) {
    const n = data.tokens.length;
    const wide = width >= 640;
    const gap = 36;
    const column = wide ? (width - gap) / 2 : width;
    const side = Math.min(column, 360);
    const labels = (side - 76) / n >= 9 ? 76 : 0;
    const key = 58;
    const sentenceHeight = wide ? 310 : 250;
    const areas = {
      sentence: { x: 0, y: 0, width: column, height: sentenceHeight },
      cosines: {
        x: wide ? column + gap : 0,
        y: wide ? 0 : sentenceHeight + key + 16,
        width: side,
        height: side - labels + 24,
      },
    };
    const below = wide
      ? Math.max(sentenceHeight + key, areas.cosines.height + 46) + 20
      : areas.cosines.y + areas.cosines.height + 62;
    const table: Area = { x: 0, y: below, width: column, height: 220 };
    const lagged: Area = {
      x: wide ? column + gap : 0,
      y: wide ? below : below + 236,
      width: column,
      height: 220,
    };
    const longest = Math.max(...data.token, hasSegment(data) ? data.segment : 0, ...data.position);
    const places = Array.from({ length: n }, (_, place) => place);
    const sentence = plane(
      areas.sentence,
      {
        from: -0.5,
        to: n - 0.5,
        nice: false,
        label: 'place in the sentence',
        ...(n < 7 ? { ticks: n } : {}),
      },
      { from: 0, to: longest, label: 'length of the row' },
    );
    const inSentence = data.position.subarray(0, n);
    // Words are printed beside their rows while these are high enough.
    const rowHeight = (side - labels) / n;
    const drawn = map(
      { ...areas.cosines, x: areas.cosines.x + labels, width: side - labels },
      {
        values: data.cosines,
        rows: n,
        columns: n,
        low: -largestMagnitude([data.cosines]),
        high: largestMagnitude([data.cosines]),
        scale: 'diverging',
        title: 'Cosine: token, position',
      },
    );
    const positions = Array.from({ length: data.position.length }, (_, place) => place);
    const whole = plane(
      table,
      { from: 0, to: data.position.length - 1, label: 'position', nice: false, ticks: 5 },
      { from: 0, to: longest, label: `length of all ${data.position.length} position rows` },
    );
    const distances = Array.from({ length: data.lags.length }, (_, place) => place + 1);
    const byLag = plane(
      lagged,
      { from: 0, to: data.lags.length, label: 'places apart', nice: false },
      { from: Math.min(0, ...data.lags), to: 1, label: 'mean cosine of two positions' },
    );
    const sentenceDots = (values: ArrayLike<number>, ink: 'token-token' | 'position-position'): Mark => ({
      mark: 'dots',
      x: places.map((place) => sentence.x(place)),
      y: places.map((place) => sentence.y(values[place] as number)),
      radius: n > 60 ? 2 : 3,
      ink,
    });
    const largest = largestMagnitude([data.cosines]);
    const keyY = areas.cosines.y + areas.cosines.height + 10;
    return {
      width,
      height: lagged.y + lagged.height,
      marks: [
        ...sentence.marks,
        ...(hasSegment(data)
          ? [horizontal(sentence, sentence.y(data.segment), { ink: 'rest', wide: 2 })]
          : []),
        { mark: 'path', d: lineThrough(sentence, places, data.token), stroke: 'token-token', wide: 1 },
        { mark: 'path', d: lineThrough(sentence, places, inSentence), stroke: 'position-position', wide: 1 },
        sentenceDots(data.token, 'token-token'),
        sentenceDots(inSentence, 'position-position'),
        ...lineKey(0, areas.sentence.height + 4, [
          { label: 'token', ink: 'token-token' },
          { label: 'position', ink: 'position-position' },
          ...(hasSegment(data) ? [{ label: 'segment', ink: 'rest' } as const] : []),
        ]),
        ...drawn.marks,
        ...(labels === 0
          ? []
          : data.tokens.map(
              (token, place): Mark => ({
                mark: 'text',
                x: drawn.region.x - 6,
                y: drawn.region.y + (place + 0.5) * rowHeight + 4,
                text: token.length > 10 ? `${token.slice(0, 9)}…` : token,
                anchor: 'end',
                size: Math.min(12, rowHeight + 1),
              }),
            )),
        ...colourKey(drawn.region.x, keyY, {
          low: -largest,
          high: largest,
          scale: 'diverging',
          label: 'cosine',
          print: about,
        }),
        ...whole.marks,
        {
          mark: 'path',
          d: lineThrough(whole, positions, data.position),
          stroke: 'position-position',
          wide: 1.5,
        },
        ...byLag.marks,
        {
          mark: 'path',
          d: lineThrough(byLag, distances, data.lags),
          stroke: 'position-position',
          wide: 2,
        },
      ],
      regions: [drawn.region, { ...sentence.inner, pick: 'across', rows: 1, columns: n }],
    };
  },

  describe(data) {
    const segment = hasSegment(data) ? `; the segment’s has ${about(data.segment)}` : '';
    // Only distances that the table has.
    const lags = [
      [1, 'Neighbouring positions have a cosine of'],
      [8, ', positions 8 apart'],
      [16, ', and 16 apart'],
    ]
      .filter(([lag]) => data.lags.length >= Number(lag))
      .map(([lag, words]) => `${words} ${about(data.lags[Number(lag) - 1] as number)}`)
      .join('');
    return `In this sentence, token rows have length ${about(data.tokenMean)} on average; the ${data.position.length} position rows have ${about(data.positionMean)}, but position 0 has ${about(data.position[0] as number)}${segment}. Tokens and the positions that they stand at have a mean |cosine| of ${about(data.meanSize)}; random directions have ${about(data.chance)}. ${lags}.${rawRows}`;
  },

  cells: ({ tokens }) => ({ rows: tokens.length, columns: tokens.length }),
  firstCursor: ({ tokens }) => ({ i: Math.min(3, tokens.length - 1), j: 0 }),

  readout({ tokens, token, position, cosines, lags }, _, { i, j }) {
    const apart = Math.abs(i - j);
    return [
      'Token ',
      { text: tokens[i] ?? '', strong: true },
      ` (${i}), length ${readable(token[i] ?? Number.NaN)}, and position `,
      { text: String(j), strong: true },
      `, length ${readable(position[j] ?? Number.NaN)}: cosine ${signed(cosines[i * tokens.length + j] ?? Number.NaN)}.`,
      apart > 0
        ? ` Positions ${apart} apart have a mean cosine of ${readable(lags[apart - 1] ?? Number.NaN)}.`
        : '',
    ];
  },

  tokens: ({ tokens }) => tokens,
  remark: ({ tokens, dropped }) => sentenceRemark(tokens, dropped),

  table({ tokens, token, segment, position, cosines, lags }) {
    const n = tokens.length;
    const rows: (string | number)[][] = [];
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        rows.push(['cosine', tokens[i] as string, i, j, cosines[i * n + j] as number]);
      }
    }
    token.forEach((length, i) => {
      rows.push(['token length', tokens[i] as string, i, '', length]);
    });
    rows.push(['segment length', '', '', '', segment]);
    position.forEach((length, j) => {
      rows.push(['position length', '', '', j, length]);
    });
    lags.forEach((cosine, place) => {
      rows.push(['mean cosine of positions apart', '', '', place + 1, cosine]);
    });
    return withGauge({ columns: ['what', 'token', 'place', 'position or distance', 'value'], rows }, 'raw');
  },
};
