// The learned parts of a scheme: checked where they are given, drawn at the end where they are left out.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import { type Linear, table } from '../table.js';
import { extent, type SchemePart, type SchemeSizes } from './schemeRegistry.js';

/** Random streams of the drawn parts: one each, so that giving one part does not change another. */
const streams = [
  'query',
  'key',
  'offsetKeys',
  'offsetKey',
  'u',
  'v',
  'bias',
  'distances',
  'positionQuery',
  'positionKey',
  'position',
  'rotaryQuery',
  'rotaryKey',
];

interface Drawing {
  /** What the caller gave, by name. */
  given: Readonly<Record<string, unknown>>;
  /** What the parts' shapes are made of. */
  sizes: SchemeSizes & { heads: number; positions: number };
  /** Of all draws; each part has a stream of its own. */
  seed: number;
  /** Of tables and vectors. */
  deviation: number;
}

export class SchemeParts {
  /** How many numbers the parts have, and what they make of the tokens. */
  values = 0;
  readonly #learned: Record<string, unknown> = {};
  readonly #drawings: (() => void)[] = [];
  readonly #first: SmallSuperpose;
  readonly #how: Drawing;

  constructor(first: SmallSuperpose, how: Drawing) {
    this.#first = first;
    this.#how = how;
  }

  /** All parts, once everything is checked: those that are left out are drawn now. */
  learned(): Record<string, unknown> {
    for (const drawing of this.#drawings) drawing();
    return this.#learned;
  }

  /** Keeps a part of the registry. */
  add({ name, kind, ...shape }: SchemePart): void {
    const { given, sizes, deviation } = this.#how;
    const [rows, columns] = [extent(shape.rows, sizes), extent(shape.columns, sizes)];
    if (kind === 'table')
      this.#table(name, rows, columns, () =>
        table(this.#draw(name, rows, columns, deviation), rows, columns),
      );
    else if (kind === 'offsets') this.#table(name, rows, columns, () => this.#offsets(rows, columns));
    else if (kind === 'vector')
      this.#take(
        name,
        () => check.floats(name, given[name], columns),
        () => this.#draw(name, 1, columns, deviation),
      );
    else {
      const each = sizes.heads * rows;
      const own = kind === 'shared' && (given[name] as Linear | undefined)?.weight?.rows === each;
      this.linear(name, own ? each : rows, columns, kind !== 'weight');
    }
  }

  linear(name: string, rows: number, columns: number, biased = true): void {
    this.values += rows * (columns + this.#how.sizes.positions);
    const checked = () => {
      const { bias } = check.linear(name, this.#how.given[name], { rows, columns });
      if (bias && !biased)
        throw new RangeError(`${name} must have no bias; the joined weight's goes with query or key.`);
    };
    this.#take(name, checked, () => ({
      weight: table(this.#draw(name, rows, columns, 1 / Math.sqrt(columns)), rows, columns),
    }));
  }

  #table(name: string, rows: number, columns: number, drawn: () => unknown): void {
    this.values += rows * columns;
    this.#take(name, () => check.table(name, this.#how.given[name], { rows, columns }), drawn);
  }

  /** Keeps a part as it is given, or as it will be drawn. */
  #take(name: string, checked: () => void, drawn: () => unknown): void {
    if (this.#how.given[name]) {
      checked();
      this.#learned[name] = this.#how.given[name];
    } else {
      this.#drawings.push(() => {
        this.#learned[name] = drawn();
      });
    }
  }

  #draw(name: string, rows: number, columns: number, standardDeviation: number): Float64Array {
    const { seed } = this.#how;
    const stream = streams.indexOf(name);
    return this.#first.randomNormal({ rows, columns, standardDeviation, seed, stream }).data;
  }

  #offsets(rows: number, columns: number) {
    const { sizes } = this.#how;
    return this.#first.sinusoidal({
      positions: rows,
      d_model: columns,
      layout: 'concatenated',
      spacing: 'd_model',
      firstPosition: 1 - sizes.positions,
    });
  }
}
