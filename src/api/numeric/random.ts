// Seeded random tables, which are the same on every machine.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface RandomOptions {
  /** The number of rows, from 0 up. */
  rows: number;
  /** The number of columns, from 1 up. */
  columns: number;
  /** From 0 to 2³² − 1. Equal seeds give equal numbers on every machine. */
  seed: number;
  /** From 0 to 2³² − 1. Tables of one seed and different streams are independent. Default 0. */
  stream?: number;
}

export interface RandomNormalOptions extends RandomOptions {
  /** At least 0, or 'fan_in' for 1/√columns, with which a projection keeps lengths on average. Default 1. */
  standardDeviation?: number | 'fan_in';
}

/** @category Draw and summarize numbers */
interface RandomApi {
  /**
   * Draws a table from N(0, standardDeviation²), [rows, columns] (Mersenne Twister 19937-64, Box–Muller).
   * Throws RangeError or TypeError.
   */
  randomNormal(options: RandomNormalOptions): Table<Float64Array>;
  /**
   * Draws a table uniformly from [0, 1), in multiples of 2⁻⁵³, [rows, columns]. Throws RangeError or
   * TypeError.
   */
  randomUniform(options: RandomOptions): Table<Float64Array>;
}

const optionNames: check.OptionNames<RandomOptions> = {
  rows: true,
  columns: true,
  seed: true,
  stream: true,
};

export function randomApi(raw: RawModule): RandomApi {
  const checked = (options: RandomOptions) => {
    const { rows, columns, seed, stream = 0 } = options;
    check.integer('rows', rows, 0);
    check.integer('columns', columns, 1);
    check.seed('seed', seed);
    check.seed('stream', stream);
    check.tableFits(rows, columns);
    return { rows, columns, seed, stream };
  };
  return {
    randomNormal(options) {
      check.knownOptions('options', options, { ...optionNames, standardDeviation: true });
      const { rows, columns, seed, stream } = checked(options);
      const { standardDeviation = 1 } = options;
      const deviation =
        standardDeviation === 'fan_in'
          ? 1 / Math.sqrt(columns)
          : check.number('standardDeviation', standardDeviation, 0);
      return table(raw.randomNormal(rows, columns, deviation, seed, stream), rows, columns);
    },
    randomUniform(options) {
      check.knownOptions('options', options, optionNames);
      const { rows, columns, seed, stream } = checked(options);
      return table(raw.randomUniform(rows, columns, seed, stream), rows, columns);
    },
  };
}
