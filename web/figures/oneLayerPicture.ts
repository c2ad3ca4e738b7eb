// The picture of the figure "one-layer": the two ways beside each other, or one below the other, and what
// they cost.
import { type Area, bars, largestMagnitude, rowBars, textAt } from '../plot/parts.js';
import type { Cursor, Handle, Ink, Mark, Region, Scene, Span } from '../plot/scene.js';
import { nearestValue } from './controls.js';
import type { FigureView } from './figure.js';
import { type controls, type Data, names, type State, times, type Way, ways } from './oneLayerData.js';

const inks = ['token-token', 'position-position', 'rest'] as const;
/**
 * The height of all matrices together and of the gap between two, in pixels. A third row does not change it.
 */
const matricesHeight = 92;
const seam = 4;
/** The side of one matrix, in pixels. */
const sideOfMatrix = ({ parts }: Data) => (matricesHeight - seam * (parts.length - 1)) / parts.length;
const stripHeight = 60;
const top = 26;
const between = 44;
/** The width of a sign between two things, in pixels. */
const sign = 18;
/** The width of a bracket around the sum, in pixels. */
const bracket = 10;
/** The width of a matrix's name, in pixels. */
const nameWidth = ({ undoes, scale }: State) => (undoes && scale !== 1 ? 42 : 26);

interface Side {
  x: number;
  y: number;
  width: number;
  /** The width of a row's bars. */
  strip: number;
  /** The height at which its bars are centred. */
  middle: number;
  bottom: number;
}

/** Two sides beside each other, or one below the other. */
function arrange(data: Data, state: State, width: number): { sides: [Side, Side]; height: number } {
  const count = data.parts.length;
  const beside = width >= 800;
  const wide = beside ? (width - between) / 2 : width;
  const strip = Math.min(
    136,
    (wide - sideOfMatrix(data) - nameWidth(state) - (count + 1) * sign - 2 * bracket) / (count + 1),
  );
  const at = (x: number, y: number): Side => ({
    x,
    y,
    width: wide,
    strip,
    middle: y + top + matricesHeight / 2,
    bottom: y + top + matricesHeight + 26,
  });
  const first = at(0, 0);
  const second = beside ? at(wide + between, 0) : at(0, first.bottom + 10);
  return { sides: [first, second], height: second.bottom };
}

const pieces = (x: number, y: number, spans: Span[], size: number): Mark =>
  textAt(x, y, spans.map(({ text }) => text).join(''), { spans, anchor: 'end', ink: 'ink', size });

type Began = FigureView<typeof controls, Data>;

/** The ends of the axes, which stay while a setting is dragged. */
type Axes = Record<'limit' | 'largest', number>;

interface Drawn {
  marks: Mark[];
  regions: Region[];
  handles: Handle[];
}

/** The rows as the layer reads them: the position's times ρ. */
const loud = ({ data: { parts }, state: { scale } }: Pick<Began, 'data' | 'state'>) =>
  parts.map((part, k) => (k === 1 ? part.map((value) => scale * value) : part));

function sideOf(data: Data, axes: Axes, state: State, side: Side, joined: boolean): Drawn {
  const { parts, weights } = data;
  const { x, y, strip, middle, bottom, width } = side;
  const { limit } = axes;
  const cells = sideOfMatrix(data);
  const read = loud({ data, state });
  const area = (left: number): Area => ({
    x: left,
    y: middle - stripHeight / 2,
    width: strip,
    height: stripHeight,
  });
  const field = (at: Area): Mark => ({ mark: 'box', ...at, fill: 'field' });
  const marks: Mark[] = [
    textAt(x, y + 14, joined ? 'Concatenated' : 'Added', {
      bold: true,
      size: 15,
      ink: joined ? 'warning' : 'ink',
    }),
  ];
  const regions: Region[] = [];
  const handles: Handle[] = [];
  const say = (text: string, left: number) =>
    marks.push(textAt(left, middle + 6, text, { anchor: 'middle', ink: 'ink', size: 16 }));
  const inside = x + (joined ? 0 : bracket);
  parts.forEach((part, k) => {
    const box = area(inside + k * (strip + (joined ? 0 : sign)));
    marks.push(
      field(box),
      rowBars(box, read[k] as Float64Array, limit, inks[k] as Ink),
      textAt(box.x, box.y + box.height + 15, rowName(k, state, strip), { size: 13 }),
    );
    if (k > 0 && !joined) say('+', box.x - sign / 2);
    // The brackets show that the matrix reads the sum.
    if (k === 0 && !joined) say('(', box.x - bracket / 2);
    if (k === parts.length - 1 && !joined) say(')', box.x + strip + bracket / 2);
    regions.push(pointed(box, part.length, k));
    if (k === 0) handles.push(pulled(box, part, limit, k, 'token'));
    if (k === 1) handles.push(pulled(box, part, limit / state.scale, k, 'position'));
  });
  const left = x + 2 * bracket + parts.length * (strip + sign);
  say('×', left - sign / 2);
  const shown = joined ? weights : weights.slice(0, 1);
  const d = data.added.length;
  const most = largestMagnitude(weights.slice(0, 1)) || 1;
  shown.forEach((values, k) => {
    const up = middle - (shown.length * cells + (shown.length - 1) * seam) / 2 + k * (cells + seam);
    const box = { x: left, y: up, width: cells, height: cells };
    marks.push(
      { mark: 'raster', ...box, values, rows: d, columns: d, low: -most, high: most, scale: 'diverging' },
      { mark: 'box', ...box, stroke: 'quiet' },
      textAt(left + cells + 5, up + cells / 2 + 5, weightName(k, state, joined), { size: 13 }),
    );
  });
  const lettersOf = (spans: Span[]) => spans.map(({ text }) => text).join('').length;
  const full = equation(data, state, joined, fullNames);
  const formula = letterWidth * lettersOf(full) > width ? equation(data, state, joined, 0) : full;
  const end = area(x + 2 * bracket + parts.length * (strip + sign) + cells + nameWidth(state) + sign);
  say('=', end.x - sign / 2);
  marks.push(
    field(end),
    rowBars(end, joined ? data.concatenated : data.added, axes.largest, joined ? 'warning' : 'ink'),
  );
  if (joined)
    marks.push(
      rowBars(end, data.added, axes.largest, 'ink', true),
      textAt(end.x + strip, end.y + end.height + 15, width < 400 ? '▬ added' : 'lines: added', {
        anchor: 'end',
        size: 13,
      }),
    );
  regions.push(pointed(end, d, parts.length + (joined ? 1 : 0)));
  marks.push(
    pieces(
      Math.min(x + width, end.x + strip),
      bottom - 6,
      formula,
      width < 330 || lettersOf(formula) > 40 ? 13 : 15,
    ),
  );
  return { marks, regions, handles };
}

/** The width of a letter of the equations, in pixels. */
const letterWidth = 7.2;
/** Below this room, in pixels, a row's name is cut to three letters. */
const nameRoom = 64;
/** Room for full names. */
const fullNames = nameRoom;

/** The name of a row, or its first three letters where there is no room. */
function rowName(k: number, { scale }: State, room: number): string {
  const name = names[k] as string;
  return `${k === 1 && scale !== 1 ? 'ρ\u202f' : ''}${room < nameRoom ? `${name.slice(0, 3)}.` : name}`;
}

const weightName = (k: number, { undoes, scale }: State, joined: boolean) =>
  `W${'₁₂₃'[k]}${joined && k === 1 && undoes && scale !== 1 ? '/ρ' : ''}`;

/** token W₁ + position W₂, or LN(token + position) W₁, or LN([token, position]) [W₁; W₂] */
function equation({ parts }: Data, state: State, joined: boolean, room: number): Span[] {
  const { norm } = state;
  const weights = parts.map((_, k) => weightName(joined ? k : 0, state, joined));
  const plain = (text: string): Span => ({ text, ink: 'ink' });
  const read = parts.flatMap((_, k): Span[] => [
    plain(k === 0 ? '' : norm && joined ? ', ' : ' + '),
    { text: rowName(k, state, room), ink: inks[k] as Ink },
    plain(norm ? '' : `\u00a0${weights[k]}`),
  ]);
  if (!norm) return read;
  return joined
    ? [plain('LN(['), ...read, plain(`]) [${weights.join('; ')}]`)]
    : [plain('LN('), ...read, plain(`) ${weights[0]}`)];
}

/** A region whose channels can be pointed at. */
function pointed(area: Area, d: number, i: number): Region {
  const pitch = area.width / d;
  const each = Array.from({ length: d }, (_, j) => j);
  const points = {
    x: each.map((j) => area.x + (j + 0.45) * pitch),
    y: each.map(() => area.y + area.height / 2),
    cursors: each.map((j) => ({ i, j })),
    boxes: each.map(() => ({ width: pitch, height: area.height })),
  };
  return { ...area, pick: { points }, rows: 1, columns: d };
}

/**
 * A handle that sets the bar under it to the height that it is dragged to. All bars become plain decimals
 * then.
 */
function pulled(
  area: Area,
  row: ArrayLike<number>,
  limit: number,
  place: number,
  setting: 'token' | 'position',
): Handle {
  const control = { kind: 'range', label: '', min: -3, max: 3, step: 0.1, initial: 0 } as const;
  const middle = area.y + area.height / 2;
  const unit = area.height / 2 / limit;
  const last = row.length - 1;
  const at = (x: number, y: number) => {
    const channel = Math.max(0, Math.min(last, Math.floor(((x - area.x) / area.width) * row.length)));
    const value = (middle - y) / unit;
    return Array.from(row, (old, j) => nearestValue(control, j === channel ? value : old)).join(' ');
  };
  const grip = ({ i, j }: Cursor): Handle | undefined => {
    if (i !== place) return undefined;
    const x = area.x + ((j + 0.5) * area.width) / row.length;
    const up = Math.max(-1, Math.min(1, (row[j] as number) / limit)) * (area.height / 2);
    return { x, y: middle - up, setting, at: (_, y) => at(x, y) };
  };
  return { x: area.x + area.width / 2, y: middle, size: area, setting, at, grip };
}

/** A bar for each way. A click chooses the way. */
function prices(
  data: Data,
  chosen: State['way'],
  y: number,
  width: number,
): Pick<Drawn, 'marks' | 'regions'> {
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
      ink: way === 'add' ? ('ink' as const) : way === chosen ? ('warning' as const) : ('quiet' as const),
    })),
    0,
    Math.max(...each.map(([way]) => more(way))),
  );
  return {
    marks: [
      textAt(0, y + 12, 'BERT-base, concatenated: weights', { ink: 'ink', size: 14, bold: true }),
      ...drawn,
    ],
    regions: each.flatMap(([way], k) => (way === 'add' ? [] : [line(way, k)])),
  };
}

export function picture(data: Data, state: State, width: number, began?: Began): Scene {
  const from = began?.data.parts.length === data.parts.length ? began : { data, state };
  const axes = {
    limit: Math.max(1.5, largestMagnitude(loud(from))),
    largest: from.data.largest || 1,
  };
  const { sides, height } = arrange(data, state, width);
  const drawn = sides.map((side, k) => sideOf(data, axes, state, side, k === 1));
  const cost =
    state.way === 'none' ? { marks: [], regions: [] } : prices(data, state.way, height + 14, width);
  return {
    width,
    height: height + (state.way === 'none' ? 0 : 44 + 24 * Object.keys(ways).length),
    marks: [...drawn.flatMap(({ marks }) => marks), ...cost.marks],
    regions: [...drawn.flatMap(({ regions }) => regions), ...cost.regions],
    handles: drawn.flatMap(({ handles }) => handles),
  };
}
