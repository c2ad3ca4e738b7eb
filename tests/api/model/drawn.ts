// Models that a numpy oracle of tests/reference draws from a seed, and what it makes of them. SUPERPOSE_SEED draws
// others; with SUPERPOSE_SHOWN set, the largest difference of each kind is printed.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FamilyId, type Floats, openModel, type Slices } from 'superpose';
import { afterAll, expect } from 'vitest';
import { plain } from '../support/builds.ts';
import { drawnModels, drawnSeed, type Stored, type StoredNumbers } from '../support/drawnModels.ts';
import { largestDifference } from '../support/numbers.ts';

export interface DrawnModel {
  name: string;
  family: FamilyId;
  ids: number[];
  apart: number[];
  states: Stored;
  logits: Stored;
  attention: Stored;
  last: Stored;
  next_logits?: Stored;
  embedding: Stored;
  terms: Record<string, Stored>;
  mean: Stored;
  position: Stored;
  /** How far other readings of the same file are from its numbers. */
  wrong: Record<string, number>;
}

export const within = { float64: 1e-10, float32: 1e-4 };

/** Models of tests/reference/drawn_NAME.py. */
export function drawing<Model extends DrawnModel, Document extends { cases: Model[] }>(name: string) {
  const seed = drawnSeed;
  const folder = mkdtempSync(join(tmpdir(), `superpose-${name}-`));
  const worst: Record<string, Record<string, number>> = {};
  let numbers: StoredNumbers;
  afterAll(() => {
    rmSync(folder, { recursive: true });
    if (process.env.SUPERPOSE_SHOWN) console.log(worst);
  });

  return {
    seed,
    folder,
    /** Runs the script. */
    async draw(): Promise<Document> {
      const { drawn, stored } = await drawnModels<Document>(name, seed, folder);
      numbers = stored;
      return drawn;
    },
    /** The numbers, or those at these places of the first axes. */
    stored: (of: Stored, ...place: number[]): Float64Array => numbers(of, ...place),
    open: (one: string, by = plain) => openModel(by, join(folder, one)),
    expectNear(what: string, { name: one }: Model, ours: Floats, theirs: Float64Array, bound: number) {
      const difference = largestDifference(ours, theirs);
      expect(difference, `seed ${seed}, ${one}, ${what}`).toBeLessThan(bound);
      worst[one] ??= {};
      const kinds = worst[one];
      const kind = `${what.replace(/ \d$/, '')} ${bound}`;
      kinds[kind] = Math.max(kinds[kind] ?? 0, difference);
    },
    /** The same file with other members of its config.json; `bytes` in place of the file. */
    changed(one: string, change: object, bytes?: Uint8Array) {
      const config = JSON.stringify({
        ...JSON.parse(readFileSync(join(folder, one, 'config.json'), 'utf8')),
        ...change,
      });
      return openModel(plain, [
        inMemory(
          'model.safetensors',
          bytes ?? new Uint8Array(readFileSync(join(folder, one, 'model.safetensors'))),
        ),
        inMemory('config.json', new TextEncoder().encode(config)),
      ]);
    },
  };
}

const inMemory = (name: string, content: Uint8Array): Slices => ({
  name,
  size: content.length,
  read: async (from, length) => content.slice(from, from + length),
});

/** What a promise is refused with. */
export const refused = (run: Promise<unknown>) =>
  run.then(
    () => 'It did not fail.',
    (error: Error) => `${error.name}: ${error.message}`,
  );
