// Figure "One layer reads both": a token's vector and a position's, added and concatenated, through one
// linear layer. When W₂ is dragged onto W₁, concatenating becomes adding.
import { aboutPercent, howExactly, listed, readable } from '../plot/format.js';
import type { Figure, ReadoutPiece } from './figure.js';
import {
  bertWidth,
  controls,
  type Data,
  isOneMatrix,
  names,
  pairs,
  type State,
  times,
  type Way,
  ways,
} from './oneLayerData.js';
import { focus, outputRow, placeOf } from './oneLayerHand.js';
import { picture } from './oneLayerPicture.js';

export { compute } from './oneLayerData.js';

const inks = ['token-token', 'position-position', 'rest'] as const;
const twoDigits = (value: number) => value.toFixed(2);

function withNorm({ length, lengths, wideLengths, miss, added }: Data, isEqual: boolean): string {
  if (!isEqual)
    return `A LayerNorm sees both. It divides a vector by the spread of its channels: those of the sum, or all the concatenated ones. Here, over ${pairs} random pairs, the best rescaling of one output misses the other by ${aboutPercent(miss)}. Drag W₂ onto W₁, and both outputs point the same way.`;
  const range = ({ least, largest, median }: typeof lengths) =>
    `${twoDigits(least)} to ${twoDigits(largest)} (median ${twoDigits(median)})`;
  const wide = wideLengths ? `, and ${range(wideLengths)} at width ${bertWidth}` : '';
  return `With a norm between, only lengths differ. LayerNorm divides a vector by the spread of its channels, and the spread of the sum is not that of all the concatenated channels. Here the concatenated output is ${twoDigits(length)} times as long as the added one, and points the same way. That number differs from pair to pair: over ${pairs} random pairs it is ${range(lengths)} at width ${added.length}${wide}. All this holds before biases, if both halves get the same gains and no shift. A shift turns the output, too. In BERT the norm follows the sum, and in GPT-2 it comes before attention; in both, the first layer’s queries and keys would keep their directions, but each score would be multiplied by two such numbers, which can change attention.`;
}

function finding(data: Data, state: State): string {
  const isEqual = isOneMatrix(state);
  if (state.norm) return withNorm(data, isEqual);
  return isEqual
    ? `Concatenating has become adding. With W₂ = W₁ the two outputs are equal ${howExactly(data.difference)}, so the layer may as well read the sum. Drag W₂ back, and position has weights of its own.`
    : `Both ways add. Concatenated, the layer computes W₁ token + W₂ position; added, W₁ token + W₁ position. W₁ and W₂ are random, so the outputs differ by ${aboutPercent(data.relativeDifference)} of the added one’s length. Drag W₂ onto W₁.`;
}

export const figure: Figure<typeof controls, Data> = {
  name: 'one-layer',
  title: 'One layer reads both',
  controls,
  module: 'small',
  below: true,
  redraws: true,
  invites: { setting: 'pull', to: 0.055 },
  source: () => 'seeded',
  unused: ({ scale }) => (scale === 1 ? ['undoes'] : []),
  buttons: ({ pull }) => [
    pull === 1
      ? { label: 'Take W₂ back', sets: { pull: 0 }, glides: true }
      : { label: 'Put W₂ onto W₁', sets: { pull: 1 }, glides: true },
  ],

  scene: picture,
  focus,

  describe(data, state) {
    const { scale, way } = state;
    const loud =
      scale === 1
        ? ''
        : ` Positions are multiplied by ${scale}: W₂/ρ undoes that ${howExactly(data.undone)}, while one matrix for both, of rows that spread alike in every direction, misses by ${aboutPercent(data.sharedMiss)} at best.`;
    const { width, total } = data.costs[way === 'none' ? 'add' : way];
    const price =
      way === 'none'
        ? ''
        : ` Concatenated ${ways[way][1]}, BERT-base is ${width} wide and has ${readable(total / 1e6)} million weights, ${times(data, way)} those of adding. It has ${times(data, 'divided')} with tokens cut to 704 channels, ${times(data, 'wider')} with 64 channels beside all 768, and ${times(data, 'widest')} at twice the width.`;
    return `${finding(data, state)}${loud}${price}`;
  },

  cells: (data) => ({ rows: outputRow(data) + 1, columns: data.added.length }),
  firstCursor: (data) => ({ i: outputRow(data), j: 0 }),

  readout(data, { scale }, cursor): ReadoutPiece[] {
    const { part, row, channel } = placeOf(data, cursor);
    const name = names[part ?? 0] as string;
    const strong = (value: number | undefined) =>
      ({ text: readable(value ?? Number.NaN), strong: true }) as const;
    if (part === undefined)
      return [
        `Output ${row}: added `,
        strong(data.added[row as number]),
        `, concatenated ${readable(data.concatenated[row as number] as number)} = `,
        ...data.contributions.flatMap((list, k): ReadoutPiece[] => [
          k > 0 ? ' + ' : '',
          {
            text: `${names[k]} ${readable(list[row as number] as number)}`,
            ink: inks[k] as (typeof inks)[number],
          },
        ]),
      ];
    const value = data.parts[part]?.[channel as number];
    const loud = part === 1 && scale !== 1 ? `, times ${scale}` : '';
    if (row === undefined) return [`${name}, channel ${channel}: `, strong(value), loud];
    return [
      `W${'₁₂₃'[part]}, row ${row}, column ${channel}: `,
      strong(data.weights[part]?.[row * data.added.length + (channel as number)]),
      `. It multiplies channel ${channel} of the ${name}, ${readable(value ?? Number.NaN)}${loud}, for output ${row}.`,
    ];
  },

  remark: ({ unread, added }) =>
    unread.length > 0
      ? `Enter exactly ${added.length} numbers. Using random values for ${listed(unread)}.`
      : '',

  table({ parts, weights, added, concatenated, contributions, costs, ...data }) {
    const d = added.length;
    const row = (what: string, list: ArrayLike<number>) =>
      Array.from(list, (value, j): (string | number)[] => [what, Math.floor(j / d), j % d, value]);
    return {
      columns: ['what', 'row', 'channel', 'number'],
      rows: [
        ...parts.flatMap((part, k) => row(names[k] as string, part)),
        ...row('output, added', added),
        ...row('output, concatenated', concatenated),
        ...contributions.flatMap((part, k) => row(`output, concatenated: from the ${names[k]}`, part)),
        ...weights.flatMap((weight, k) => row(`W${k + 1}`, weight)),
        ['largest difference of the outputs', '', '', data.difference],
        [`miss after the best rescaling, ${pairs} pairs`, '', '', data.miss],
        ['concatenated over added output, length', '', '', data.length],
        [`concatenated over added output, least length of ${pairs} pairs`, '', '', data.lengths.least],
        [`concatenated over added output, largest length of ${pairs} pairs`, '', '', data.lengths.largest],
        ...Object.entries(ways).map(([way, [, label]]) => [
          `weights of BERT-base: ${label}`,
          '',
          '',
          costs[way as Way].total,
        ]),
      ],
    };
  },
};
