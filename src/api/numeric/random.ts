import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type FloatsOf, type Precision, rounded, type Table, table } from '../table.js';

export interface RandomOptions<P extends Precision = Precision> {
  /** From 0 up. */
  rows: number;
  /** From 1 up. */
  columns: number;
  /** From 0 to 2³²-1. The same seed gives the same numbers on every machine. */
  seed: number;
  /** Tables with the same seed and different streams are independent. From 0 to 2³²-1; default 0. */
  stream?: number;
  /** Default float64; float32 gives the same draws, rounded. */
  precision?: P;
}

export interface RandomNormalOptions<P extends Precision = Precision> extends RandomOptions<P> {
  /** At least 0; default 1. 'fan_in' is 1/√columns: such a projection keeps lengths on average. */
  standardDeviation?: number | 'fan_in';
}

export interface RandomApi {
  /** Draws from N(0, standardDeviation²), [rows, columns] (Mersenne Twister 19937-64, Box–Muller). */
  randomNormal<P extends Precision = 'float64'>(options: RandomNormalOptions<P>): Table<FloatsOf<P>>;
  /** Draws from the uniform distribution on [0, 1), multiples of 2⁻⁵³, [rows, columns]. */
  randomUniform<P extends Precision = 'float64'>(options: RandomOptions<P>): Table<FloatsOf<P>>;
}

export function randomApi(raw: RawModule): RandomApi {
  const checked = (options: RandomOptions) => {
    check.object('options', options);
    const { rows, columns, seed, stream = 0, precision = 'float64' } = options;
    check.integer('rows', rows, 0);
    check.integer('columns', columns, 1);
    check.seed('seed', seed);
    check.seed('stream', stream);
    const single = check.precision(precision) === 'float32';
    check.fits(`A table of ${rows} rows by ${columns} columns`, rows * columns * (single ? 12 : 8));
    return { rows, columns, seed, stream, single };
  };
  return {
    randomNormal<P extends Precision = 'float64'>(options: RandomNormalOptions<P>) {
      const { rows, columns, seed, stream, single } = checked(options);
      const { standardDeviation = 1 } = options;
      const deviation =
        standardDeviation === 'fan_in'
          ? 1 / Math.sqrt(columns)
          : check.representable('standardDeviation', standardDeviation, single, 0);
      const data = raw.randomNormal(rows, columns, deviation, seed, stream);
      return table(rounded<FloatsOf<P>>(data, single), rows, columns);
    },
    randomUniform<P extends Precision = 'float64'>(options: RandomOptions<P>) {
      const { rows, columns, seed, stream, single } = checked(options);
      const data = raw.randomUniform(rows, columns, seed, stream);
      return table(rounded<FloatsOf<P>>(data, single), rows, columns);
    },
  };
}
