// Where a picture may be cut when a window does not hold all of it: between its parts, never through one.
import type { Mark, Region, Scene } from './scene.js';

/** The upper and the lower end of a part, in pixels of its scene. */
type Extent = readonly [top: number, bottom: number];

const extentOf = (heights: Iterable<number> & { readonly length: number }): Extent => {
  let [top, bottom] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const height of heights) {
    top = Math.min(top, height);
    bottom = Math.max(bottom, height);
  }
  return [top, bottom];
};

/** The heights of a path's points and control points. Pictures use only the commands M, L, C, h and v. */
function pathHeights(path: string): number[] {
  const heights: number[] = [];
  for (const [, command, rest = ''] of path.matchAll(/([MLChv])([-\d., ]+)/g)) {
    const numbers = rest.match(/-?[\d.]+/g)?.map(Number) ?? [];
    if (command === 'v') heights.push((heights.at(-1) ?? 0) + (numbers[0] ?? 0));
    else if (command !== 'h') heights.push(...numbers.filter((_, place) => place % 2 === 1));
  }
  return heights;
}

function extent(mark: Mark): Extent {
  switch (mark.mark) {
    case 'line':
      return extentOf([mark.y1, mark.y2]);
    case 'path':
      return extentOf(pathHeights(mark.d));
    case 'dots':
      return extentOf(Array.from(mark.y));
    case 'text': {
      const size = mark.size ?? 13;
      // A turned text is vertical and centred on its place; its letters are half as wide as they are high.
      const half = mark.turn ? (mark.text.length * size) / 4 : 0;
      return half > 0 ? [mark.y - half, mark.y + half] : [mark.y - size, mark.y + 0.3 * size];
    }
    default:
      return [mark.y, mark.y + mark.height];
  }
}

/**
 * Whether a part names what follows it, as texts and the rules below them do; a picture must not end with
 * such a part.
 */
const names = (part: Mark | Region): boolean =>
  'mark' in part && (part.mark === 'text' || (part.mark === 'box' && part.height < 5));

/**
 * The height, at most `limit`, at which a picture may end. Parts that `limit` would cut are left out, and
 * with them the titles that stand just above them.
 */
export function cropAbove({ marks, regions }: Scene, limit: number): number {
  const parts = [
    ...marks.map((mark) => ({ extent: extent(mark), names: names(mark) })),
    ...regions.map(({ y, height }) => ({ extent: [y, y + height] as Extent, names: false })),
  ];
  /** The largest distance of a title from what it names, in pixels. */
  const gap = 12;
  let end = limit;
  for (;;) {
    const crossing = parts.find(({ extent: [top, bottom] }) => top < end - 1 && bottom > end + 1);
    const named = parts.some((part) => !part.names && Math.abs(part.extent[0] - end) <= gap);
    const title =
      end < limit && named
        ? parts.find((part) => part.names && part.extent[0] < end - 1 && part.extent[1] > end - gap / 2)
        : undefined;
    const left = crossing ?? title;
    if (!left) return end;
    end = left.extent[0];
  }
}
