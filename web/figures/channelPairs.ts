// Figure of a model with RoPE that the reader opened: which wavelengths carry a head, its scores by the pairs of channels
// that are turned together.
import { aboutPercent, percent, readable } from '../plot/format.js';
import { plane } from '../plot/parts.js';
import type { Mark, Term } from '../plot/scene.js';
import type { AnyFigure, ReadoutPiece } from './figure.js';
import type { termKey } from './heads.js';
import { nothingToShare } from './sentence.js';
import { termLabels, terms } from './terms.js';

export interface ByPair {
  /** How many there are says whether anything can vary. */
  tokens: readonly string[];
  dropped: number;
  /** Of each pair, in positions. */
  wavelengths: readonly number[];
  /** [pairs + 1]: the five shares of each pair, and last those of what is not turned. */
  shares: readonly number[][];
}

type State = { head: number; layer?: number };

const whole = (shares: readonly number[]) => shares.reduce((sum, share) => sum + share, 0);
const called = ({ wavelengths }: ByPair, pair: number) =>
  pair < wavelengths.length
    ? `the pair that turns once in ${readable(wavelengths[pair] as number)} positions`
    : 'what is not turned';

/** `keyOf` is termKey(): importing it would bring the figure of heads along. */
export const channelPairs = (keyOf: typeof termKey): AnyFigure => ({
  name: 'channel-pairs',
  title: '',
  controls: {},
  source: () => 'trained',

  scene({ wavelengths, shares }: ByPair, _: State, width: number) {
    const key = keyOf(width);
    const found = shares.map((of) => of.filter(Number.isFinite));
    const ends = (end: (a: number, b: number) => number) =>
      found.map((of) => of.reduce((sum, share) => sum + end(0, share), 0));
    const last = shares.length - 1;
    const area = { x: 0, y: key.height + 12, width, height: 250 };
    const drawn = plane(
      area,
      {
        from: -0.5,
        to: last + 0.5,
        label: 'positions to a turn',
        nice: false,
        ticks: Math.min(shares.length, width < 500 ? 4 : 9),
        print: (pair) => (pair === last ? 'none' : readable(wavelengths[pair] ?? Number.NaN)),
      },
      {
        from: Math.min(0, ...ends(Math.min)),
        to: Math.max(0.01, ...ends(Math.max)),
        label: 'share of what the head’s scores vary by',
        print: (share) => `${Number((100 * share).toPrecision(3))} %`.replace('-', '−'),
        ticks: 4,
      },
    );
    const wide = Math.min(40, 0.8 * (drawn.x(1) - drawn.x(0)));
    const bars = found.flatMap((of, pair) => {
      let [below, above] = [0, 0];
      return of.map((share, kind): Mark => {
        const from = share < 0 ? below : above;
        if (share < 0) below += share;
        else above += share;
        const [top, bottom] = [drawn.y(Math.max(from, from + share)), drawn.y(Math.min(from, from + share))];
        const term = terms[kind] as Term;
        const x = drawn.x(pair) - wide / 2;
        return { mark: 'box', x, y: top, width: wide, height: bottom - top, fill: term, term };
      });
    });
    const zero = drawn.y(0);
    const { inner } = drawn;
    return {
      width,
      height: area.y + area.height,
      marks: [
        ...key.marks,
        ...drawn.marks,
        ...bars,
        { mark: 'line', x1: inner.x, x2: inner.x + inner.width, y1: zero, y2: zero, ink: 'quiet' },
      ],
      regions: [{ ...inner, pick: 'across', rows: 1, columns: shares.length }],
    };
  },

  describe(data: ByPair, { head, layer = 0 }: State) {
    const { shares, tokens } = data;
    const sums = shares.map(whole);
    if (!sums.every(Number.isFinite)) return nothingToShare({ gauge: 'corpus-mean' }, tokens.length);
    const most = sums.indexOf(Math.max(...sums));
    const [part = 0] = (shares[most] as number[])
      .map((_, kind) => kind)
      .sort((a, b) => (shares[most]?.[b] as number) - (shares[most]?.[a] as number));
    const left = sums.at(-1) as number;
    const rest = most < shares.length - 1 ? ` What is not turned makes up ${aboutPercent(left)}.` : '';
    return `Head ${head} is carried most by ${called(data, most)}. Of what its scores in layer ${layer} vary by, that makes up ${aboutPercent(sums[most] as number)}; ${termLabels[terms[part] as Term]} is most of it, with ${aboutPercent(shares[most]?.[part] as number)}.${rest}`;
  },

  cells: ({ shares }: ByPair) => ({ rows: 1, columns: shares.length }),

  readout(data: ByPair, _: State, { j }) {
    const shares = data.shares[j];
    if (!shares) return ['There is no such pair.'];
    return [
      { text: j < data.wavelengths.length ? `Pair ${j}` : 'Not turned', strong: true },
      `, ${called(data, j)}: ${percent(whole(shares))}: `,
      ...terms.flatMap((term, kind): ReadoutPiece[] => [
        { text: `${termLabels[term]} ${percent(shares[kind] as number)}`, term },
        kind < terms.length - 1 ? ', ' : '.',
      ]),
    ];
  },

  table: ({ wavelengths, shares }: ByPair) => ({
    columns: ['pair', 'positions to a turn', 'share', ...terms.map((term) => termLabels[term])],
    rows: shares.map((of, pair) => [
      pair < wavelengths.length ? pair : 'not turned',
      wavelengths[pair] ?? '',
      whole(of),
      ...of,
    ]),
  }),
});
