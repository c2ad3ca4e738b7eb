// What each way of concatenating costs in a model of a given shape: a part of the figure "three-concats".
import type { Cost, ModelShape, Superpose } from 'superpose';
import { percent, readable } from '../plot/format.js';
import { type Area, bars, textAt } from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import { builds, buildWays, type Data, measures, type SplitScore } from './threeConcatsScores.js';
import type { State } from './threeConcatsSettings.js';

export function costsOf(superpose: Superpose, state: State): (Cost | undefined)[] {
  const { d_model, heads, context: sequence, d_position } = state;
  // As wide as a head, or as near as whole numbers come.
  const d_position_head = Math.max(1, Math.floor(d_model / heads));
  const { layers, vocabulary, positions, segments, pooler } = state;
  const model = { vocabulary, positions, segments, pooler, d_model, heads, layers };
  const shape: ModelShape = { ...model, sequence, d_position, d_position_head };
  return buildWays.map((way) =>
    way === 'concat' && d_position >= d_model ? undefined : superpose.positionCost(way, shape),
  );
}

export const ratio = (cost: Cost | undefined, { costs }: Data, name: (typeof measures)[number]['name']) =>
  cost ? cost[name] / ((costs[0] as Cost)[name] || 1) : Number.NaN;

/** A ratio to three digits, or near 1 to three decimals. */
export const times = (value: number) =>
  `×${Math.abs(value - 1) < 0.1 ? value.toFixed(3) : value.toPrecision(3)}`;

/** 124 M: three digits and a power of a thousand. */
export function short(value: number): string {
  const power = Math.min(5, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return power === 0 ? String(value) : `${readable(value / 1000 ** power)}\u00a0${' kMGTP'[power]}`;
}

/** A row for each way to build it: its cross terms, and what it costs, on one scale. */
export function costMarks(data: Data, heads: number, y: number, width: number) {
  const narrow = width < 700;
  const names = builds.map(
    ({ label, short: brief }, place) =>
      `${width < 960 ? brief : label}${data.costs[place]?.headsDivide === false ? ' *' : ''}`,
  );
  const ratios = measures.map(({ name }) => data.costs.map((cost) => ratio(cost, data, name) - 1));
  const finite = ratios.flat().filter(Number.isFinite);
  const tall = builds.length * 22;
  const first = narrow ? width : 0.44 * width;
  const column = (width - first) / measures.length - 18;
  const box = (place: number): Area =>
    narrow
      ? { x: 0, y: y + 24 + place * (tall + 30), width, height: tall }
      : place === 0
        ? { x: 0, y: y + 24, width: first, height: tall }
        : { x: first + 18 + (place - 1) * (column + 18), y: y + 24, width: column, height: tall };
  const block = (
    place: number,
    title: string,
    list: { value: number; text: string }[],
    ends: [number, number],
  ) => {
    const area = box(place);
    return [
      textAt(area.x, area.y - 8, title, { ink: 'ink', size: 13, bold: true }),
      ...bars(
        area,
        list.map((one, row) => ({
          ...one,
          label: narrow || place === 0 ? (names[row] as string) : '',
          ink: row === 0 ? 'quiet' : 'accent',
        })),
        ...ends,
      ),
    ];
  };
  const crossing = builds.map(({ scores }) => {
    const { cross, crossShare } = data.ways[scores] as SplitScore;
    return { value: crossShare, text: cross === 0 ? 'none' : percent(crossShare) };
  });
  const shares = crossing.map(({ value }) => value).filter(Number.isFinite);
  const marks: Mark[] = block(
    0,
    narrow ? 'Variation from cross terms' : 'In a model: variation from cross terms',
    crossing,
    [Math.min(0, ...shares), Math.max(1, ...shares)],
  );
  const texts = measures.map(({ name }) =>
    data.costs.map((cost) =>
      cost ? `${short(cost[name])}\u2002${times(ratio(cost, data, name))}` : 'no room',
    ),
  );
  // All padded to the longest, so that the blocks have one scale.
  const longest = Math.max(...texts.flat().map(({ length }) => length));
  measures.forEach(({ label }, place) => {
    const list = builds.map((_, row) => ({
      value: ratios[place]?.[row] as number,
      text: texts[place]?.[row]?.padStart(longest, '\u2007') ?? '',
    }));
    marks.push(...block(place + 1, label, list, [Math.min(...finite), Math.max(...finite)]));
  });
  const end = box(measures.length).y + tall;
  const odd = [...new Set(data.costs.filter((one) => one?.headsDivide === false).map((one) => one?.width))];
  const notes = [
    narrow
      ? 'Costs: from what adding takes, ×1'
      : 'Costs: more, or less, than adding takes, which is ×1; one scale for all',
    ...(odd.length > 0 ? [`* ${heads} heads do not divide ${odd.join(' or ')}`] : []),
  ];
  notes.forEach((text, line) => {
    marks.push(textAt(0, end + 20 + 17 * line, text));
  });
  return { marks, height: end + 20 + 17 * 2 };
}
