// Figures of whole embedding tables.
import type { Table } from 'superpose';
import { plain } from './builds.ts';
import { dot, norm, rowsOf, sum, sumOf } from './numbers.ts';

const meanRow = (table: Table): Float64Array => sumOf(rowsOf(table)).map((x) => x / table.rows);

/** (sum of eigenvalues)² / sum of their squares, of the centred covariance: how many directions matter. */
export function participationRatio({ data, rows, columns }: Table): number {
  const centre = meanRow({ data, rows, columns });
  const transposed = { data: new Float64Array(data.length), rows: columns, columns: rows };
  data.forEach((x, at) => {
    const channel = at % columns;
    transposed.data[channel * rows + Math.floor(at / columns)] = x - (centre[channel] as number);
  });
  const nothing = { data: new Float64Array(columns), rows: columns, columns: 1 };
  const covariance = plain.dotProducts({ token: transposed, position: nothing })['token-token'];
  const trace = sum(Array.from({ length: columns }, (_, c) => covariance[c * columns + c] as number));
  return trace ** 2 / dot(covariance, covariance);
}

/**
 * The mean |cosine| of every row of one table with every row of the other: of the tables as they are, and of
 * each minus its mean row. Both come from the same fifteen million dot products x·p, because (x − x̄)·(p −
 * p̄) = x·p − x·p̄ − x̄·p + x̄·p̄. The number of rows of `right` is a multiple of four.
 */
export function meanAbsoluteCosines(left: Table<Float64Array>, right: Table<Float64Array>) {
  const [x, p] = [side(left, meanRow(right)), side(right, meanRow(left))];
  const both = dot(meanRow(left), meanRow(right));
  const products = new Float64Array(right.rows);
  let raw = 0;
  let centred = 0;
  for (let i = 0; i < left.rows; i++) {
    timesRow(left, i, right, products);
    let [ofRow, ofCentredRow] = [0, 0];
    for (let j = 0; j < right.rows; j++) {
      const product = products[j] as number;
      const apart = product - (x.withMean[i] as number) - (p.withMean[j] as number) + both;
      ofRow += Math.abs(product) / (p.length[j] as number);
      ofCentredRow += Math.abs(apart) / (p.centredLength[j] as number);
    }
    raw += ofRow / (x.length[i] as number);
    centred += ofCentredRow / (x.centredLength[i] as number);
  }
  const pairs = left.rows * right.rows;
  return { raw: raw / pairs, centred: centred / pairs };
}

/** For each row: its length, its length without the mean row, and its product with the other table's mean. */
function side(table: Table<Float64Array>, otherMean: Float64Array) {
  const centre = meanRow(table);
  const rows = rowsOf(table);
  return {
    length: rows.map(norm),
    centredLength: rows.map((row) => norm(row.map((value, c) => value - (centre[c] as number)))),
    withMean: rows.map((row) => dot(row, otherMean)),
  };
}

/** Row i of `left` times every row of `right`, four at a time: billions of products in seconds. */
function timesRow(left: Table<Float64Array>, i: number, right: Table<Float64Array>, out: Float64Array) {
  const { data: x, columns: d } = left;
  const { data: p } = right;
  const start = i * d;
  for (let j = 0; j < right.rows; j += 4) {
    const [at0, at1, at2, at3] = [j * d, (j + 1) * d, (j + 2) * d, (j + 3) * d];
    let [s0, s1, s2, s3] = [0, 0, 0, 0];
    for (let c = 0; c < d; c++) {
      const value = x[start + c] as number;
      s0 += value * (p[at0 + c] as number);
      s1 += value * (p[at1 + c] as number);
      s2 += value * (p[at2 + c] as number);
      s3 += value * (p[at3 + c] as number);
    }
    out[j] = s0;
    out[j + 1] = s1;
    out[j + 2] = s2;
    out[j + 3] = s3;
  }
}
