// Tables written in the formats that openTable() reads.
import type { Table } from 'superpose';
import { rowOf } from './numbers.ts';
import { fileOf } from './safetensors.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

export const joined = (...parts: (string | Uint8Array)[]): Uint8Array<ArrayBuffer> => {
  const all = parts.map((part) => (typeof part === 'string' ? bytesOf(part) : part));
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

export const singles = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

/** A table as numpy.save writes it. */
export function npy(
  descr: string,
  shape: string,
  data: Uint8Array,
  fortran = 'False',
  version = 1,
): Uint8Array<ArrayBuffer> {
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`;
  const before = version === 1 ? 10 : 12;
  const padded = `${text.padEnd(Math.ceil((before + text.length + 1) / 64) * 64 - before - 1)}\n`;
  const length =
    version === 1
      ? [padded.length % 256, padded.length >> 8]
      : [padded.length % 256, padded.length >> 8, 0, 0];
  return joined(Uint8Array.of(0x93), 'NUMPY', Uint8Array.of(version, 0, ...length), padded, data);
}

/** One table in single precision in every format, by file name; formats that name rows use these words. */
export function tableFiles(
  table: Table<Float32Array>,
  words: readonly string[],
): Record<string, Uint8Array<ArrayBuffer>> {
  const { data, rows, columns } = table;
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const lines = words.map((_, row) => [...rowOf(table, row)]);
  return {
    'words.csv': joined(lines.map((line, row) => `${[words[row], ...line].join(',')}\n`).join('')),
    'rows.npy': npy('<f4', `(${rows}, ${columns})`, bytes),
    'rows.csv': joined(lines.map((line) => `${line.join(',')}\n`).join('')),
    'rows.safetensors': new Uint8Array(fileOf({ E: { dtype: 'F32', shape: [rows, columns], bytes } })),
  };
}
