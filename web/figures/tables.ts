// Figure "The tables that are added": how long MiniLM's token, position and segment rows are, the cosines
// between tokens and positions, and how alike positions are by distance. And one whose numbers were quoted: two
// channels of a sinusoidal table, by its width.
import type { SmallSuperpose, Superpose } from 'superpose';
import { about, readable, signed } from '../plot/format.js';
import {
  type Area,
  colourKey,
  horizontal,
  largestMagnitude,
  lineKey,
  lineThrough,
  map,
  namedLines,
  type Plane,
  plane,
  vertical,
} from '../plot/parts.js';
import type { Ink, Mark, Scene } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Figure, TextCompute, TextModel } from './figure.js';
import { rawRows, withGauge } from './gaugeControl.js';
import { fetching, mostTokens, sentenceControl, sentenceRemark } from './sentence.js';

const controls = {
  of: {
    kind: 'choice',
    label: 'Tables',
    options: { added: 'MiniLM’s three', quoted: 'One that was quoted' },
    initial: 'added',
    radio: true,
  },
  text: sentenceControl,
  channel: {
    kind: 'choice',
    label: 'Which table printed these numbers? Channel, from the last',
    options: { '-16': '−16', '-1': '−1' },
    initial: '-16',
    radio: true,
  },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Added {
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

interface Quoted {
  widths: number[];
  /** By spacing, then by position: the value at each width, in float32 as it was printed. */
  values: Float64Array[][];
  /** The widths at which tensor2tensor's values at both positions have all the quoted digits. */
  matching: number[];
}

type Data = Added | Quoted;

const isQuoted = (data: Data): data is Quoted => 'matching' in data;

const mostLag = 128;
/** With more rows, the products of all pairs would not fit. */
const mostPositions = 1024;

let last: { model: TextModel; positions: Pick<Added, 'position' | 'positionMean' | 'lags'> } | undefined;

export const compute: TextCompute<typeof controls, Data> = async (library, { of, text, channel }) => {
  if (of === 'quoted') return quoted(await library.small(), channel);
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

const quotedAt = [63, 127] as const;
/** As the discussion prints them, for the positions above. */
const quotes: Record<State['channel'], readonly [string, string]> = {
  '-16': ['0.9984067', '0.9935305'],
  '-1': ['0.99998015', '0.99991935'],
};

const spacings = [
  { name: 'timescales', label: 'tensor2tensor’s spacing', dashed: false },
  { name: 'd_model', label: 'the 2017 paper’s spacing', dashed: true },
] as const;

const claimed = 512;
const [narrowest, widestWidth] = [64, 768];
const widths = () => Array.from({ length: (widestWidth - narrowest) / 2 + 1 }, (_, k) => narrowest + 2 * k);

type Values = Record<State['channel'], Float64Array[][]>;

// The channel is the only setting, so both are computed at once.
let known: Values | undefined;

function valuesOf(superpose: SmallSuperpose): Values {
  const all = widths();
  const empty = () => spacings.map(() => quotedAt.map(() => new Float64Array(all.length)));
  const values: Values = { '-16': empty(), '-1': empty() };
  for (const [spacing, { name }] of spacings.entries()) {
    for (const [place, position] of quotedAt.entries()) {
      for (const [at, d_model] of all.entries()) {
        const { data } = superpose.sinusoidal({
          positions: 1,
          firstPosition: position,
          d_model,
          layout: 'concatenated',
          spacing: name,
          precision: 'float32',
        });
        for (const channel of ['-16', '-1'] as const) {
          const found = values[channel][spacing]?.[place] as Float64Array;
          found[at] = data.at(Number(channel)) as number;
        }
      }
    }
  }
  return values;
}

function quoted(superpose: SmallSuperpose, channel: State['channel']): Quoted {
  known ??= valuesOf(superpose);
  const all = widths();
  const values = known[channel];
  const agrees = (place: number, quote: string, at: number) =>
    values[0]?.[place]?.[at]?.toFixed(quote.length - 2) === quote;
  return {
    widths: all,
    values,
    matching: all.filter((_, at) => quotes[channel].every((quote, place) => agrees(place, quote, at))),
  };
}

const inks: Ink[] = ['accent', 'second'];

const hasSegment = ({ segment }: Added) => !Number.isNaN(segment);

export const figure: Figure<typeof controls, Data> = {
  name: 'tables',
  title: 'The tables that are added, and one that was quoted',
  controls,
  source: ({ of }) => (of === 'quoted' ? 'exact' : 'trained'),
  waiting: fetching,
  unused: ({ of }) => (of === 'quoted' ? ['text'] : ['channel']),

  scene: (data, { channel }, width) =>
    isQuoted(data) ? quotedScene(data, channel, width) : addedScene(data, width),

  describe(data, { channel }) {
    if (isQuoted(data)) return quotedFinding(data, channel);
    const segment = hasSegment(data) ? `; the segment’s has ${about(data.segment)}` : '';
    const head =
      data.positionMean < data.tokenMean
        ? 'Position rows are shorter than token rows. '
        : 'Position rows are no shorter than token rows. ';
    return `${head}In this sentence, token rows have length ${about(data.tokenMean)} on average; the ${data.position.length} position rows have ${about(data.positionMean)}${segment}. Tokens and the positions that they stand at have a mean |cosine| of ${about(data.meanSize)}; random directions have ${about(data.chance)}.${rawRows}`;
  },

  cells: (data) =>
    isQuoted(data)
      ? { rows: 1, columns: data.widths.length }
      : { rows: data.tokens.length, columns: data.tokens.length },
  firstCursor: (data) =>
    isQuoted(data) ? { i: 0, j: data.widths.indexOf(128) } : { i: Math.min(3, data.tokens.length - 1), j: 0 },

  readout(data, { channel }, { i, j }) {
    if (isQuoted(data)) {
      const value = (spacing: number, place: number) =>
        printed(data.values[spacing]?.[place]?.[j] ?? Number.NaN);
      return [
        'Width ',
        { text: String(data.widths[j] ?? '–'), strong: true },
        `, channel ${channel.replace('-', '−')}: ${value(0, 0)} at position ${quotedAt[0]} and ${value(0, 1)} at ${quotedAt[1]} with tensor2tensor’s spacing of frequencies, ${value(1, 0)} and ${value(1, 1)} with the paper’s.`,
      ];
    }
    const { tokens, token, position, cosines, lags } = data;
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

  tokens: (data) => (isQuoted(data) ? undefined : data.tokens),
  remark: (data) => (isQuoted(data) ? '' : sentenceRemark(data.tokens, data.dropped)),

  table(data) {
    if (isQuoted(data)) {
      return {
        columns: [
          'width',
          ...spacings.flatMap(({ label }) => quotedAt.map((p) => `position ${p}, ${label}`)),
        ],
        rows: data.widths.map((width, at) => [
          width,
          ...data.values.flatMap((places) => places.map((values) => values[at] as number)),
        ]),
      };
    }
    const { tokens, token, segment, position, cosines, lags } = data;
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
    return withGauge(
      { columns: ['what', 'token', 'position in the sentence', 'position or distance', 'value'], rows },
      'raw',
    );
  },
};

function addedScene(data: Added, width: number): Scene {
  const n = data.tokens.length;
  const wide = width >= 640;
  const gap = 36;
  const column = wide ? (width - gap) / 2 : width;
  const side = Math.min(column, 360);
  const labels = (side - 76) / n >= 9 ? 76 : 0;
  const sentenceHeight = wide ? 310 : 250;
  const named = namedLines(
    { x: 0, y: 0, width: column, height: sentenceHeight },
    [
      { label: 'token', ink: 'token-token' },
      { label: 'position', ink: 'position-position' },
      ...(hasSegment(data) ? [{ label: 'segment', ink: 'rest' } as const] : []),
    ],
    300,
  );
  const areas = {
    sentence: named.area,
    cosines: {
      x: wide ? column + gap : 0,
      y: wide ? 0 : sentenceHeight + named.below + 16,
      width: side,
      height: side - labels + 24,
    },
  };
  const below = wide
    ? Math.max(sentenceHeight, areas.cosines.height + 46) + 20
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
      label: 'position in the sentence',
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
    { from: 0, to: data.lags.length, label: 'positions apart', nice: false },
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
      ...(hasSegment(data) ? [horizontal(sentence, sentence.y(data.segment), { ink: 'rest', wide: 2 })] : []),
      { mark: 'path', d: lineThrough(sentence, places, data.token), stroke: 'token-token', wide: 1 },
      { mark: 'path', d: lineThrough(sentence, places, inSentence), stroke: 'position-position', wide: 1 },
      sentenceDots(data.token, 'token-token'),
      sentenceDots(inSentence, 'position-position'),
      ...named.names(
        sentence,
        [data.token, inSentence, ...(hasSegment(data) ? [[data.segment]] : [])].map((rows) =>
          sentence.y(rows[rows.length - 1] ?? Number.NaN),
        ),
      ),
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
}

function quotedFinding(data: Quoted, channel: State['channel']): string {
  const at = (width: number, place: number) =>
    printed(data.values[0]?.[place]?.[data.widths.indexOf(width)] ?? Number.NaN);
  const [first, second] = quotes[channel];
  const name = channel.replace('-', '−');
  const found = `The discussion prints ${first} and ${second} for channel ${name} at positions ${quotedAt.join(' and ')} of a table said to be ${claimed} wide.`;
  const { matching } = data;
  const range = `the even widths from ${narrowest} to ${widestWidth}`;
  if (matching.length === data.widths.length)
    return `Their width cannot be told from these numbers. ${found} All ${range} print them.`;
  if (matching.length > 1) return `${matching.length} widths print these numbers. ${found}`;
  return `Only a table ${matching[0]} wide printed these numbers. ${found} Of ${range} only ${matching[0]} prints both. A table ${claimed} wide has ${at(claimed, 0)} and ${at(claimed, 1)}.`;
}

function quotedScene(data: Quoted, channel: State['channel'], width: number): Scene {
  const plot: Area = { x: 0, y: 0, width, height: width < 560 ? 280 : 330 };
  const drawn = planeOf(data, channel, plot);
  const { inner, x, y } = drawn;
  const upright = (at: number, anchor: 'start' | 'end'): Mark[] => [
    vertical({ inner }, x(at), { ink: 'quiet', dashed: true }),
    {
      mark: 'text',
      x: x(at) + (anchor === 'start' ? 5 : -5),
      y: inner.y + inner.height - 6,
      text: `d = ${at}`,
      ink: 'ink',
      anchor,
    },
  ];
  return {
    width,
    height: plot.height + 10 + 18 * spacings.length,
    marks: [
      ...drawn.marks,
      ...upright(128, 'start'),
      ...upright(claimed, 'end'),
      ...quotes[channel].map((quote, place) =>
        horizontal({ inner }, y(1 - Number(quote)), { ink: place === 0 ? 'warning' : 'third', wide: 1.5 }),
      ),
      ...spacings.flatMap(({ dashed }, spacing) =>
        quotedAt.map(
          (_, place): Mark => ({
            mark: 'path',
            d: lineThrough(
              drawn,
              data.widths,
              Array.from(data.values[spacing]?.[place] ?? [], (value) => 1 - value),
            ),
            stroke: inks[place],
            wide: 2,
            dashed,
          }),
        ),
      ),
      ...quotes[channel].map(
        (quote, place): Mark => ({
          mark: 'dots',
          x: data.matching.length === 1 ? data.matching.map((at) => x(at)) : [],
          y: data.matching.length === 1 ? [y(1 - Number(quote))] : [],
          radius: 5,
          ink: inks[place] as Ink,
        }),
      ),
      ...labels(data, channel, drawn),
      ...lineKey(
        0,
        plot.height + 10,
        spacings.map(({ label, dashed }) => ({ label, ink: 'ink' as const, dashed })),
      ),
    ],
    regions: [{ ...inner, pick: 'across', rows: 1, columns: data.widths.length }],
  };
}

/** Labels beside the curves and lines that they name. */
function labels({ widths: all, values }: Quoted, channel: State['channel'], { x, y, inner }: Plane): Mark[] {
  const right = inner.x + inner.width;
  const end = all.length - 1;
  return quotedAt.flatMap((position, place): Mark[] => {
    const quoted = y(1 - Number(quotes[channel][place]));
    const curve = (at: number) => y(1 - (values[0]?.[place]?.[at] as number));
    // If a curve ends close to its quote's line, its label goes to the curve's beginning, on the other side.
    const apart = Math.abs(curve(end) - quoted) > 30;
    const at = apart ? end : 14;
    const beside = (level: number, above: boolean) => level + (above ? -7 : 16);
    return [
      {
        mark: 'text',
        x: x(all[at] as number),
        y: beside(curve(at), (place === 1) === apart),
        text: `position ${position}`,
        anchor: apart ? 'end' : 'start',
        ink: 'ink',
      },
      {
        mark: 'text',
        x: right,
        y: beside(quoted, place === 1),
        text: `quoted for ${position}: ${quotes[channel][place]}`,
        anchor: 'end',
        ink: 'ink',
      },
    ];
  });
}

const printed = (value: number): string => value.toFixed(8).replace('-', '−');

function planeOf(data: Quoted, channel: State['channel'], plot: Area): Plane {
  const off = data.values.flat().flatMap((values) => Array.from(values, (value) => 1 - value));
  return plane(
    plot,
    { from: narrowest, to: widestWidth, label: 'width d', nice: false },
    {
      from: Math.min(...off.filter((value) => value > 0)),
      to: Math.max(...off),
      label: `1 − value of channel ${channel.replace('-', '−')}`,
      logarithmic: true,
      print: (tick) => tick.toFixed(6).replace(/\.?0+$/, ''),
    },
  );
}
