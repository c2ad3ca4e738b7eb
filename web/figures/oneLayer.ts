// Figure "One layer reads both": a token's vector and a position's, added and concatenated, through one
// linear layer. When W₂ is pulled to W₁, concatenating becomes adding.
import { aboutPercent, howExactly, listed, readable } from '../plot/format.js';
import type { Figure } from './figure.js';
import { controls, type Data, names, pairs, type State, times, type Way, ways } from './oneLayerData.js';
import { picture } from './oneLayerPicture.js';

export { compute } from './oneLayerData.js';

function finding(data: Data, { pull, norm, undoes }: State): string {
  const equal = pull === 1 && !undoes;
  if (norm && equal) {
    const [least, most] = data.lengths.map((times) => times.toFixed(2));
    return `With a norm between, only lengths differ. It divides by the spread of the sum, or of all concatenated channels. With W₂ = W₁ both outputs still point the same way. Over ${pairs} drawn pairs the concatenated one is ${least} to ${most} times as long, so no one rescaling fits all: the best misses by ${aboutPercent(data.miss)}.`;
  }
  if (norm)
    return `A norm sees both. It divides by the spread of the sum, or of all concatenated channels. Here, over ${pairs} drawn pairs, the best rescaling of one output misses the other by ${aboutPercent(data.miss)}.`;
  return equal
    ? `Concatenating has become adding. With W₂ = W₁ the two outputs are equal ${howExactly(data.difference)}.`
    : `Both ways add. W₁ and W₂ are random, so outputs differ by ${aboutPercent(data.relativeDifference)} of the added one’s length. Pull W₂ to W₁: they become equal.`;
}

export const figure: Figure<typeof controls, Data> = {
  name: 'one-layer',
  title: 'One layer reads both',
  controls,
  module: 'small',
  below: true,
  source: () => 'seeded',
  unused: ({ scale }) => (scale === 1 ? ['undoes'] : []),

  scene: picture,

  describe(data, state) {
    const { scale, way } = state;
    const loud =
      scale === 1
        ? ''
        : ` Positions are multiplied by ${scale}: W₂/ρ undoes that ${howExactly(data.undone)}, while one matrix for both, of rows that spread alike in every direction, misses by ${aboutPercent(data.sharedMiss)} at best.`;
    const { width, total } = data.costs[way === 'none' ? 'add' : way];
    const price =
      way === 'none'
        ? ` Concatenated, BERT-base has ${times(data, 'divided')} the weights with tokens cut to 704 channels, ${times(data, 'widest')} at twice the width.`
        : ` Concatenated ${ways[way][1]}, BERT-base is ${width} wide and has ${readable(total / 1e6)} million weights, ${times(data, way)} those of adding.`;
    return `${finding(data, state)}${loud}${price}`;
  },

  cells: ({ parts, added }) => ({ rows: parts.length + 2, columns: added.length }),
  firstCursor: ({ parts }) => ({ i: parts.length, j: 0 }),

  readout({ parts, added, concatenated }, { scale }, { i, j }) {
    const at = (list: ArrayLike<number> | undefined) => readable(list?.[j] ?? Number.NaN);
    const part = names[i];
    if (part && i < parts.length) {
      const loud = part === 'position' && scale !== 1 ? `, times ${scale}` : '';
      return [`${part}, channel ${j}: `, { text: at(parts[i]), strong: true }, loud];
    }
    return [`Output ${j}: added `, { text: at(added), strong: true }, `, concatenated ${at(concatenated)}`];
  },

  remark: ({ unread, added }) =>
    unread.length > 0
      ? `Enter exactly ${added.length} numbers. Using random values for ${listed(unread)}.`
      : '',

  table({ parts, weights, added, concatenated, costs, ...data }) {
    const d = added.length;
    const row = (what: string, list: ArrayLike<number>) =>
      Array.from(list, (value, j): (string | number)[] => [what, Math.floor(j / d), j % d, value]);
    return {
      columns: ['what', 'row', 'channel', 'number'],
      rows: [
        ...parts.flatMap((part, k) => row(names[k] as string, part)),
        ...row('output, added', added),
        ...row('output, concatenated', concatenated),
        ...weights.flatMap((weight, k) => row(`W${k + 1}`, weight)),
        ['largest difference of the outputs', '', '', data.difference],
        [`miss after the best rescaling, ${pairs} pairs`, '', '', data.miss],
        [`concatenated over added output, least length of ${pairs} pairs`, '', '', data.lengths[0]],
        [`concatenated over added output, largest length of ${pairs} pairs`, '', '', data.lengths[1]],
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
