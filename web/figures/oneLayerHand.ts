// What the reader can do by hand in the picture of "one-layer": point at cells, drag cards, and edit bars by
// their grips.
import type { Area } from '../plot/parts.js';
import type { Cursor, Handle, Mark, Region } from '../plot/scene.js';
import { nearestValue } from './controls.js';
import type { Data, State } from './oneLayerData.js';
import {
  type Axes,
  barHeight,
  cardWidth,
  type Layout,
  layoutOf,
  padding,
  scaledRows,
  snapFrom,
  stacked,
  type View,
} from './oneLayerLayout.js';

/** The cursor's row of a part's bars, of the first row of its matrix, and of the outputs. */
const barRow = (k: number, d: number) => k * (d + 1);
const matrixRow = (k: number, d: number) => k * (d + 1) + 1;
export const outputRow = ({ parts, added }: Data): number => parts.length * (added.length + 1);

/** What the cursor points at. */
export function placeOf(data: Data, { i, j }: Cursor): { part?: number; row?: number; channel?: number } {
  if (i >= outputRow(data)) return { row: j };
  const each = data.added.length + 1;
  const part = Math.floor(i / each);
  return i % each === 0 ? { part, channel: j } : { part, row: (i % each) - 1, channel: j };
}

/** Cells side by side that can be pointed at. */
function cellsOf(area: Area, cursors: Cursor[], down: boolean): Region {
  const size = (down ? area.height : area.width) / cursors.length;
  const box = down ? { width: area.width, height: size } : { width: size, height: area.height };
  const points = {
    x: cursors.map((_, k) => area.x + (down ? area.width / 2 : (k + 0.5) * size)),
    y: cursors.map((_, k) => area.y + (down ? (k + 0.5) * size : area.height / 2)),
    cursors,
    boxes: cursors.map(() => box),
  };
  return { ...area, pick: { points }, rows: 1, columns: cursors.length };
}

/** The regions of the cards, the topmost card first, and of the outputs. */
export function regionsOf(data: Data, layout: Layout): Region[] {
  const { cards, cell, top, strip, matrixTop, side, output } = layout;
  const d = data.added.length;
  const each = Array.from({ length: d }, (_, j) => j);
  const ofCards = cards.map(({ x, wholeColumns }, k): Region[] => {
    if (wholeColumns === 0) return [];
    const width = wholeColumns * cell;
    const row = each.slice(0, wholeColumns).map((j) => ({ i: barRow(k, d), j }));
    return [
      cellsOf({ x, y: top, width, height: strip }, row, false),
      {
        x,
        y: matrixTop,
        width,
        height: side,
        pick: 'cells',
        rows: d,
        columns: wholeColumns,
        firstRow: matrixRow(k, d),
      },
    ];
  });
  const outputs = each.map((j) => ({ i: outputRow(data), j }));
  return [...ofCards.reverse().flat(), cellsOf(output, outputs, true)];
}

/** Frames around everything that belongs to the cursor's bar, cell or output. */
export function focus(data: Data, state: State, cursor: Cursor, width: number): Mark[] {
  const layout = layoutOf(data, state, width);
  const { cards, cell, top, strip, matrixTop, side, output } = layout;
  const { part, row, channel } = placeOf(data, cursor);
  const frame = (x: number, y: number, width: number, height: number): Mark => ({
    mark: 'box',
    x,
    y,
    width,
    height,
    stroke: 'ink',
    wide: 1.5,
  });
  const shown = (k: number, j: number) => j < (cards[k]?.wholeColumns ?? 0);
  const marks: Mark[] = [];
  if (part !== undefined && channel !== undefined && shown(part, channel)) {
    const x = (cards[part] as { x: number }).x + channel * cell;
    marks.push(row === undefined ? frame(x, matrixTop, cell, side) : frame(x, top, cell, strip));
  }
  if (row !== undefined) {
    if (part !== undefined) marks.push(frame(output.x, matrixTop + row * cell, output.width, cell));
    else
      for (const { x, visible } of cards)
        if (visible > 1) marks.push(frame(x, matrixTop + row * cell, visible, cell));
  }
  return marks;
}

/** The grip at the end of the bar that is pointed at. Dragging it rounds all bars of that part to tenths. */
export function gripOf(view: View, layout: Layout, axes: Axes, cursor: Cursor): Handle[] {
  const { data, state } = view;
  const { part, row, channel } = placeOf(data, cursor);
  const setting = part === 0 ? 'token' : part === 1 ? 'position' : undefined;
  if (setting === undefined || part === undefined || channel === undefined || row !== undefined) return [];
  const { cards, cell, melted, side, strip } = layout;
  const { x, visible } = cards[part] as Layout['cards'][number];
  if ((channel + 0.5) * cell > (melted > 0 ? side : visible)) return [];
  const ends = stacked(scaledRows(view), melted)[part] as [number, number][];
  const [from, to] = ends[channel] as [number, number];
  const y = barHeight(layout, to, axes.bars);
  const scale = part === 1 ? state.scale : 1;
  const old = data.parts[part] as Float64Array;
  const control = { kind: 'range', label: '', min: -3, max: 3, step: 0.1, initial: 0 } as const;
  const at = (_: number, up: number) => {
    const value = to + ((y - up) / (strip / 2)) * axes.bars - from;
    return Array.from(old, (before, j) => nearestValue(control, j === channel ? value / scale : before)).join(
      ' ',
    );
  };
  return [{ x: x + (channel + 0.5) * cell, y, setting, at }];
}

/**
 * A handle for every card but the token's. A card that is k cards away from the token's moves k times as far.
 */
export function cardHandles(layout: Layout, pull: number): Handle[] {
  const height = layout.matrixTop + layout.side + 28;
  return layout.cards.flatMap(({ x, visible }, k): Handle[] => {
    if (k === 0 || visible === 0) return [];
    const width = cardWidth(layout, k);
    const middle = x - padding + width / 2;
    return [
      {
        x: middle,
        y: 1 + height / 2,
        size: { width, height },
        setting: 'pull',
        at: (to) => pull - (to - middle) / (k * layout.pitch),
        snap: [snapFrom, 1],
      },
    ];
  });
}
