// The picture of the figure "schemes": the places of its parts, and the pieces that they share.
import { anovaTerms } from 'add-or-concatenate';
import { aboutPercent, percent } from '../plot/format.js';
import {
  type Area,
  largestMagnitude,
  lineKey,
  multiples,
  plane,
  titleHeight,
  wrapped,
} from '../plot/parts.js';
import type { Mark, Span } from '../plot/scene.js';
import type { ReadoutPiece } from './figure.js';
import { formulaLines } from './formula.js';
import { type Data, ids, mapRounding, type OffsetMap, type State } from './schemesScores.js';
import { type AnovaTerm, anovaLabels, kinds } from './schemeTexts.js';

export const dependsOn = ({ depends, offsets }: OffsetMap): string =>
  depends === 'nothing'
    ? 'nothing'
    : depends === 'offset'
      ? 'offset only'
      : `${percent(offsets.share)} offset`;

/** A map's colours are centred on its mean, because a constant changes no attention. */
export const aboutMean = ({ offsets }: OffsetMap, limit: number) =>
  ({ low: offsets.mean - limit, high: offsets.mean + limit, scale: 'diverging' }) as const;

export const signedOffset = (offset: number): string =>
  offset > 0 ? `+${offset}` : `${offset}`.replace('-', '−');

export const termPiece = (name: AnovaTerm, value: string): ReadoutPiece => {
  const { label, ink, term } = anovaLabels[name];
  return { text: `${value} ${label}`, ...(term ? { term } : { ink }) };
};

/** A bar divided by what a scheme's scores ask about. A negative share is left out. */
export function shareBar(shares: Float64Array, { x, width, ...bar }: Area): Mark[] {
  const counted = Array.from(shares, (share) => Math.max(0, share || 0));
  const all = counted.reduce((sum, share) => sum + share, 0);
  if (all === 0) return [{ mark: 'box', x, width, ...bar, stroke: 'line' }];
  let from = x;
  return counted.flatMap((share, place): Mark[] => {
    const wide = (share / all) * width;
    const { ink, term } = anovaLabels[anovaTerms[place] as AnovaTerm];
    from += wide;
    return wide < 0.25 ? [] : [{ mark: 'box', x: from - wide, width: wide, ...bar, fill: ink, term }];
  });
}

/** Shares below this are neither named nor in the key. */
const leastShown = 0.01;

/** A sentence with the shares that are large enough, the largest first. */
export const askedIn = (shares: Float64Array): string => {
  const list = Array.from(shares, (share, place) => ({ share, name: anovaTerms[place] as AnovaTerm }))
    .filter(({ share }) => Math.abs(share) >= leastShown)
    .sort((a, b) => b.share - a.share)
    .map(({ share, name }) => `${anovaLabels[name].label} ${aboutPercent(share)}`);
  return list.length ? `By what they ask: ${list.join(', ')}.` : 'They ask nothing.';
};

/**
 * The terms without that of the query alone: it is the same for every key, so that softmax does not depend
 * on it.
 */
export const shownTerms = ({ terms }: Data) => terms.filter(({ name }) => name !== 'query');

/**
 * The places of every scheme's map and of the maps of the chosen scheme's terms, which are beside the others
 * or, on a phone, above them.
 */
export function arrange(data: Data, state: State, width: number) {
  const narrow = width < 660;
  // In a scene of the page the picture shares a window with its settings and tools.
  const small = !narrow && width < 1000;
  const gallery = narrow ? width : Math.max(Math.round(0.4 * width), 310);
  const tiles = multiples(gallery, small ? 70 : 76, narrow ? 8 : 4, 10);
  const tileHeight = titleHeight(true) + (narrow ? tiles.width : Math.min(small ? 49 : 58, tiles.width));
  const tileStep = tileHeight + 11;
  const tileRows = Math.ceil(ids.length / tiles.columns) * tileStep;
  const x = narrow ? 0 : gallery + 28;
  const wide = width - x;
  const text: { text: string; spans: Span[] | undefined }[] = [
    ...wrapped(kinds[state.scheme].says, Math.max(150, wide), 7.5).map((text) => ({
      text,
      spans: undefined,
    })),
    ...formulaLines(data.tex, Math.floor(wide / 9)),
  ];
  const name = 16;
  // Except on a phone, there is room for the longest text, so that maps do not move when another scheme is
  // chosen.
  const partsY = name + 23 * (narrow ? text.length : Math.max(3, text.length)) + 12;
  const grid = multiples(wide, small ? 120 : 140, 4, 10);
  const rowOf = (side: number) => titleHeight() + side + 10;
  const shown = shownTerms(data).length + 2;
  const rowsOf = (parts: number) => Math.ceil(parts / grid.columns);
  // With one token only three maps vary; they get the room of the eight that vary with many tokens.
  const rows = rowsOf(narrow ? shown : state.words === 'same' ? Math.max(3, shown) : 8);
  const room = (rowsOf(8) * rowOf(small ? 50 : 84)) / rows - rowOf(0);
  // On a phone two rows of maps are in sight above the steps of a scene.
  const side = Math.min(grid.width, narrow ? 120 : room);
  const partRow = narrow ? rowOf(side) : rowOf(room);
  const partKeys = partsY + rows * partRow + 2;
  const softmaxKey = wide < 430 ? { x, y: partKeys + 38 } : { x: x + wide / 2, y: partKeys };
  const kernel = { x, y: softmaxKey.y + 38, width: wide, height: narrow ? 150 : small ? 90 : 106 };
  const end = kernel.y + kernel.height;
  const tilesY = narrow ? end + 20 : 0;
  const tilesKey = tilesY + tileRows + 4;
  const keyed = anovaTerms.filter((term) => term !== 'query').map((term) => anovaLabels[term]);
  const keys = multiples(gallery, 150, 3, 6);
  // The key has room for all terms, so that the picture's height does not depend on which are shown.
  const seen = anovaTerms.flatMap((term, place) =>
    term !== 'query' && Object.values(data.schemes).some(({ shares }) => (shares[place] ?? 0) >= leastShown)
      ? [anovaLabels[term]]
      : [],
  );
  const legend = seen.flatMap((entry, place) => {
    const { row, x } = keys.at(place);
    return lineKey(x, tilesKey + 28 + 18 * row, [entry]);
  });
  return {
    /** Whether a long label fits beside the colours of the maps. */
    roomy: gallery >= 400,
    x,
    tile(place: number): Area {
      const { row, x } = tiles.at(place);
      return {
        x,
        y: tilesY + row * tileStep,
        width: tileHeight - titleHeight(true),
        height: tileHeight,
      };
    },
    tilesKey,
    legend,
    name,
    lines: text,
    part(place: number): Area {
      const { row, x: within } = grid.at(place);
      return { x: x + within, y: partsY + row * partRow, width: side, height: titleHeight() + side };
    },
    scoreKey: { x, y: partKeys },
    softmaxKey,
    kernel,
    height: Math.max(end, tilesKey + 30 + 18 * Math.ceil(keyed.length / keys.columns)),
  };
}

/** The plane of the means by offset, as high as the largest mean. */
export function kernelPlane({ n, schemes }: Data, { scheme }: State, area: Area) {
  const reach = largestMagnitude([schemes[scheme].logits.offsets.kernel]);
  const end = reach > mapRounding ? reach : 1;
  return plane(
    area,
    { from: 1 - n, to: n - 1, label: 'offset: key − query, in tokens', nice: false },
    {
      from: -end,
      to: end,
      label: 'mean at that offset − mean of all',
      ticks: area.height < 120 ? 2 : 4,
    },
  );
}
