// The picture of the figure "one-layer": token and position as bars above the columns of their matrices, and
// on the right what the layer makes of them. The position's card slides over the token's as W₂ moves to W₁.
import { bars, largestMagnitude, lineAt, textAt } from '../plot/parts.js';
import type { Cursor, Ink, Mark, Region, Scene, Span } from '../plot/scene.js';
import { type Size, sizes } from '../plot/sizes.js';
import {
  type Data,
  distanceOf,
  isOneMatrix,
  names,
  type State,
  times,
  type Way,
  ways,
} from './oneLayerData.js';
import { cardHandles, gripOf, regionsOf } from './oneLayerHand.js';
import {
  type Axes,
  barHeight,
  cardWidth,
  inks,
  type Layout,
  layoutOf,
  padding,
  scaledRows,
  stacked,
  type View,
  within,
} from './oneLayerLayout.js';

/** A card has its names only where at least this much of it is visible, in pixels. */
const nameWidth = 70;

const hundredths = (value: number) => Math.round(100 * value) / 100;
/** A rectangle as a path. */
const rectangle = (x: number, y: number, width: number, height: number) =>
  `M${hundredths(x)},${hundredths(y)}h${hundredths(width)}v${hundredths(height)}h${hundredths(-width)}Z`;

function barsOf(layout: Layout, k: number, ends: [number, number][], limit: number): Mark {
  const { cell, melted } = layout;
  const { x, visible } = layout.cards[k] as Layout['cards'][number];
  // A card that melts away hides nothing.
  const edge = melted > 0 ? layout.side : visible;
  const wide = cell - (cell > 5 ? 1.5 : 0);
  const d = ends.map(([from, to], j) => {
    const width = Math.min(wide, edge - j * cell);
    const [a, b] = [barHeight(layout, from, limit), barHeight(layout, to, limit)];
    return width > 0 ? rectangle(x + j * cell, Math.min(a, b), width, Math.abs(a - b)) : '';
  });
  return { mark: 'path', d: d.join(''), fill: inks[k] as Ink };
}

/** The part of a matrix that no card covers: whole columns, and a part of one. */
function matrixOf(layout: Layout, k: number, weights: Float64Array, limit: number): Mark[] {
  const { cell, side, matrixTop } = layout;
  const { x, visible, wholeColumns } = layout.cards[k] as Layout['cards'][number];
  const d = Math.round(side / cell);
  const piece = (first: number, columns: number, width: number): Mark[] =>
    width < 0.5
      ? []
      : [
          {
            mark: 'raster',
            x: x + first * cell,
            y: matrixTop,
            width,
            height: side,
            values: Float64Array.from(
              { length: d * columns },
              (_, at) => weights[Math.floor(at / columns) * d + first + (at % columns)] as number,
            ),
            rows: d,
            columns,
            low: -limit,
            high: limit,
            scale: 'diverging',
          },
        ];
  const width = wholeColumns * cell;
  return [
    ...piece(0, wholeColumns, width),
    ...(wholeColumns < d ? piece(wholeColumns, 1, visible - width) : []),
  ];
}

const weightName = (k: number, { undoes, scale }: State) =>
  `W${'₁₂₃'[k]}${k === 1 && undoes && scale !== 1 ? '/ρ' : ''}`;
const rowName = (k: number, { scale }: State) => `${k === 1 && scale !== 1 ? 'ρ\u202f' : ''}${names[k]}`;

const plain = (text: string): Span => ({ text, ink: 'ink' });
/** Names in the colours of their parts, with a sign between. */
const joined = (sign: string, count: number, name: (k: number) => string): Span[] =>
  Array.from({ length: count }, (_, k): Span[] => [
    ...(k > 0 ? [plain(sign)] : []),
    { text: name(k), ink: inks[k] as Ink },
  ]).flat();

/** W₁ token + W₂ position, or W₁ (token + position), or [W₁ W₂] LN[token; position] */
function equation({ parts: { length } }: Data, state: State, row: (k: number) => string): Span[] {
  const weights = (k: number) => weightName(isOneMatrix(state) ? 0 : k, state);
  if (state.norm)
    return [
      plain('['),
      ...joined(' ', length, weights),
      plain('] LN['),
      ...joined('; ', length, row),
      plain(']'),
    ];
  return isOneMatrix(state)
    ? [plain('W₁ ('), ...joined(' + ', length, row), plain(')')]
    : joined(' + ', length, (k) => `${weights(k)} ${row(k)}`);
}

const textOf = (spans: Span[]) => spans.map(({ text }) => text).join('');
const spansAt = (x: number, y: number, spans: Span[], look: Parameters<typeof textAt>[3]): Mark =>
  textAt(x, y, textOf(spans), { ink: 'ink', ...look, spans });

/** The width of a letter, as a fraction of the type size. */
const letter = 0.57;

/** The equation at its largest size that fits, with names cut to three letters if none does. */
function fittingEquation(data: Data, state: State, room: number, size: Size): { spans: Span[]; size: Size } {
  const full = equation(data, state, (k) => rowName(k, state));
  const fits = (spans: Span[], size: number) => letter * size * textOf(spans).length <= room;
  if (fits(full, size)) return { spans: full, size };
  if (fits(full, sizes.label)) return { spans: full, size: sizes.label };
  return { spans: equation(data, state, (k) => `${names[k]?.slice(0, 3)}.`), size: sizes.label };
}

/** The names of a card: of its row above it, and of its matrix below it. */
function cardNames(data: Data, state: State, layout: Layout, k: number): Mark[] {
  const { cards, side, matrixTop, wide } = layout;
  const { x, visible } = cards[k] as Layout['cards'][number];
  const look = { ink: inks[k] as Ink, size: wide ? sizes.prose : sizes.text, bold: true };
  const below = matrixTop + side + 21;
  if (state.pull === 1) {
    if (k > 0) return [];
    const { length } = data.parts;
    const matrices = isOneMatrix(state)
      ? joined(' = ', length, (k) => weightName(k, state))
      : [{ text: 'W₂/ρ = W₁/ρ', ink: 'position-position' as const }];
    return [
      spansAt(
        x,
        17,
        joined(' + ', length, (k) => rowName(k, state)),
        look,
      ),
      spansAt(x, below, matrices, look),
    ];
  }
  if (visible < Math.min(side, nameWidth)) return [];
  return [
    textAt(x, 17, rowName(k, state), look),
    k === 0
      ? textAt(x, below, weightName(k, state), look)
      : textAt(x + side, below, weightName(k, state), { ...look, anchor: 'end' }),
  ];
}

/** The frame of a matrix, open at the side where the next card lies on it. */
function frameOf({ cards, side, matrixTop }: Layout, k: number): Mark {
  const { x, visible } = cards[k] as Layout['cards'][number];
  const [left, right, top] = [x, x + visible, matrixTop].map(hundredths) as [number, number, number];
  const d = `M${right},${top}H${left}v${hundredths(side)}H${right}${visible < side ? '' : 'Z'}`;
  return { mark: 'path', d: visible > 0 ? d : '', stroke: inks[k] as Ink, wide: 2.5 };
}

/** The cards, in the order in which they lie on each other. */
function cardMarks(data: Data, state: State, layout: Layout, axes: Axes): Mark[] {
  const { cards, side, top, strip, matrixTop, melted } = layout;
  const ends = stacked(scaledRows({ data, state }), melted);
  const limit = largestMagnitude(data.weights.slice(0, 1)) || 1;
  return cards.flatMap(({ x, visible }, k): Mark[] => {
    const opacity = k === 0 ? 1 : 1 - melted;
    const edge = { x: x - padding, y: 1, width: cardWidth(layout, k), height: matrixTop + side + 28 };
    const width = melted > 0 ? side : visible;
    return [
      ...(k > 0 && melted < 1 ? [{ mark: 'box', ...edge, stroke: 'line', opacity } as const] : []),
      { mark: 'box', x, y: top, width, height: strip, fill: 'field', opacity },
      barsOf(layout, k, ends[k] as [number, number][], axes.bars),
      ...matrixOf(layout, k, data.weights[k] as Float64Array, limit),
      frameOf(layout, k),
      ...cardNames(data, state, layout, k),
    ];
  });
}

/** Ticks at the sums of the stacked bars: the values of the added vector. */
function sumTicks(data: Data, state: State, layout: Layout, axes: Axes): Mark[] {
  if (state.pull < 1) return [];
  const ends = stacked(scaledRows({ data, state }), 1).at(-1) as [number, number][];
  const { x } = layout.cards[0] as { x: number };
  const d = ends.map(
    ([, to], j) =>
      `M${hundredths(x + j * layout.cell)},${hundredths(barHeight(layout, to, axes.bars))}h${hundredths(layout.cell - 1.5)}`,
  );
  return [{ mark: 'path', d: d.join(''), stroke: 'ink', wide: 2.5 }];
}

const dot = (x: number, y: number, radius: number) =>
  `M${hundredths(x - radius)},${hundredths(y)}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0Z`;

const radiusOf = ({ cell, wide }: Layout) => Math.min(wide ? 6 : 4.5, hundredths(0.3 * cell));

/** A row for each output: the parts' segments one after the other, their sum, and what adding gives. */
function outputMarks(
  { contributions, added, concatenated }: Data,
  layout: Layout,
  { outputs }: Axes,
): Mark[] {
  const { output, cell } = layout;
  const zero = output.x + output.width / 2;
  const at = (value: number) => zero + (within(value, outputs) / outputs) * (output.width / 2);
  const rows = Array.from(added, (_, i) => output.y + i * cell);
  const ends = stacked(contributions, 1);
  const thin = [0.64, 0.4, 0.24];
  const radius = radiusOf(layout);
  return [
    lineAt([zero, output.y], [zero, output.y + output.height], { ink: 'quiet' }),
    ...ends.map((part, k): Mark => {
      const height = (thin[k] as number) * cell;
      const d = rows.map((y, i) => {
        const [a, b] = (part[i] as [number, number]).map(at) as [number, number];
        return rectangle(Math.min(a, b), y + (cell - height) / 2, Math.abs(b - a), height);
      });
      return { mark: 'path', d: d.join(''), fill: inks[k] as Ink };
    }),
    // Where parts have opposite signs, the bars do not end at the sum.
    {
      mark: 'path',
      d: rows
        .map((y, i) => {
          const signs = contributions.map((part) => Math.sign(part[i] as number));
          return signs.includes(1) && signs.includes(-1)
            ? `M${hundredths(zero)},${hundredths(y + cell / 2)}H${hundredths(at(concatenated[i] as number))}`
            : '';
        })
        .join(''),
      stroke: 'concatenated',
      wide: 1.5,
    },
    {
      mark: 'path',
      d: rows.map((y, i) => dot(at(concatenated[i] as number), y + cell / 2, radius)).join(''),
      fill: 'concatenated',
    },
    {
      mark: 'path',
      d: rows
        .map((y, i) => `M${hundredths(at(added[i] as number))},${hundredths(y + 1)}v${hundredths(cell - 2)}`)
        .join(''),
      stroke: 'ink',
      wide: layout.wide ? 3 : 2.5,
    },
  ];
}

/** The key of the two outputs: each mark beside its name. */
function outputKey(x: number, y: number): Mark[] {
  return [
    { mark: 'path', d: dot(x + 5, y - 5, 4.5), fill: 'concatenated' },
    textAt(x + 14, y, 'concatenated', { ink: 'ink' }),
    { mark: 'path', d: `M${x + 112},${y - 12}v14`, stroke: 'ink', wide: 3 },
    textAt(x + 119, y, 'added', { ink: 'ink' }),
  ];
}
const keyWidth = 154;

/** What the colours of a matrix mean. */
function weightKey(x: number, y: number): Mark[] {
  const swatch = (left: number, value: number): Mark => ({
    mark: 'raster',
    x: left,
    y: y - 11,
    width: 12,
    height: 12,
    values: [value],
    rows: 1,
    columns: 1,
    low: -1,
    high: 1,
    scale: 'diverging',
  });
  return [
    textAt(x, y, 'weights:'),
    swatch(x + 58, -0.6),
    textAt(x + 75, y, 'below 0'),
    swatch(x + 136, 0.6),
    textAt(x + 153, y, 'above 0'),
  ];
}

/** The distance, the names and the keys around the output. */
function labels(data: Data, state: State, layout: Layout): Mark[] {
  const { wide, cards, output, top, matrixTop, side } = layout;
  const bottom = matrixTop + side;
  const left = padding + 1;
  const right = output.x + output.width;
  const zero = output.x + output.width / 2;
  const [number, words] = distanceOf(data, state);
  const middle = matrixTop + side / 2 + 6;
  const [, next] = cards;
  const { spans, size } = wide
    ? fittingEquation(data, state, output.width, sizes.prose)
    : fittingEquation(data, state, right - left, sizes.text);
  const marks: Mark[] = [
    textAt(output.x - (wide ? 44 : 13), middle, '=', { anchor: 'middle', ink: 'ink', size: sizes.prose }),
  ];
  if (state.pull < 0.05)
    for (const { x } of cards.slice(1))
      marks.push(
        textAt(x - padding - (wide ? 16 : 4), middle, '+', {
          anchor: 'middle',
          ink: 'ink',
          size: wide ? sizes.prose : sizes.text,
        }),
      );
  if (next && state.pull < 0.04)
    marks.push({
      ...textAt(next.x, bottom + 21, wide ? '⟵ drag me' : '⟵ drag', { ink: 'position-position' }),
      live: true,
    });
  if (wide)
    return [
      ...marks,
      textAt(zero, top + 44, number, { anchor: 'middle', ink: 'ink', size: sizes.title, bold: true }),
      textAt(zero, top + 70, words, {
        anchor: 'middle',
        size: output.width < 340 ? sizes.label : sizes.text,
      }),
      textAt(zero, matrixTop - 34, 'output', { anchor: 'middle', ink: 'ink', size: sizes.prose, bold: true }),
      ...outputKey(zero - keyWidth / 2, matrixTop - 12),
      spansAt(zero, bottom + 24, spans, { size, anchor: 'middle' }),
      ...weightKey(left, bottom + 50),
    ];
  // The labels of a narrow output column extend to the left of it.
  const isNarrow = output.width < 150;
  const [middleOrEnd, anchor] = isNarrow ? ([right, 'end'] as const) : ([zero, 'middle'] as const);
  return [
    ...marks,
    textAt(middleOrEnd, top + 30, number, { anchor, ink: 'ink', size: sizes.section, bold: true }),
    textAt(middleOrEnd, top + 49, words.split(',')[0] as string, { anchor }),
    textAt(middleOrEnd, matrixTop - 8, 'output', { anchor, ink: 'ink', size: sizes.text, bold: true }),
    spansAt(left, bottom + 50, spans, { size }),
    ...outputKey(left, bottom + 72),
    ...weightKey(left, bottom + 93),
  ];
}

/** A bar for each way. A click chooses the way. */
function prices(
  data: Data,
  chosen: State['way'],
  y: number,
  width: number,
): { marks: Mark[]; regions: Region[] } {
  const row = 24;
  const each = Object.entries(ways) as [Way, (typeof ways)[Way]][];
  const area = { x: 0, y: y + 22, width: Math.min(width, 640), height: each.length * row };
  const more = (way: Way) => data.costs[way].total / data.costs.add.total;
  const line = (way: Way, k: number): Region => {
    const at = { ...area, y: area.y + k * row, height: row };
    return { ...at, pick: 'nothing', rows: 1, columns: 1, sets: { way } };
  };
  const drawn = bars(
    area,
    each.map(([way, [, label]]) => ({
      label,
      value: more(way),
      text: times(data, way),
      ink: way === 'add' ? ('ink' as const) : way === chosen ? ('concatenated' as const) : ('quiet' as const),
    })),
    0,
    Math.max(...each.map(([way]) => more(way))),
  );
  return {
    marks: [
      textAt(0, y + 12, 'BERT-base, concatenated: weights', { ink: 'ink', size: sizes.text, bold: true }),
      ...drawn,
    ],
    regions: each.flatMap(([way], k) => (way === 'add' ? [] : [line(way, k)])),
  };
}

export function picture(data: Data, state: State, width: number, dragStart?: View, cursor?: Cursor): Scene {
  const from = dragStart?.data.parts.length === data.parts.length ? dragStart : { data, state };
  const tips = [stacked(scaledRows(from), 0), stacked(scaledRows(from), 1)].flat(2).map(([, to]) => to);
  const axes = { bars: Math.max(1.5, largestMagnitude([tips])), outputs: from.data.largest || 1 };
  const layout = layoutOf(data, state, width);
  const { height } = layout;
  const cost =
    state.way === 'none' ? { marks: [], regions: [] } : prices(data, state.way, height + 14, width);
  return {
    width,
    height: height + (state.way === 'none' ? 0 : 44 + 24 * Object.keys(ways).length),
    marks: [
      ...cardMarks(data, state, layout, axes),
      ...sumTicks(data, state, layout, axes),
      ...outputMarks(data, layout, axes),
      ...labels(data, state, layout),
      ...cost.marks,
    ],
    regions: [...regionsOf(data, layout), ...cost.regions],
    handles: [
      ...cardHandles(layout, state.pull),
      ...(cursor ? gripOf({ data, state }, layout, axes, cursor) : []),
    ],
  };
}
