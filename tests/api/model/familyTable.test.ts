// docs/families.md: what is run and taken apart of each family, and how far it is from the oracles. The test makes the
// table again; `SUPERPOSE_WRITE=1 npm test -- node familyTable` writes it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FamilyId, type Floats, familyIds, modelFamilies, type OpenedModel, openModel } from 'superpose';
import { afterAll, expect, test } from 'vitest';
import { root } from '../../package/support/project.ts';
import families from '../../reference/families.json' with { type: 'json' };
import { withoutNumpy } from '../../tools/support/numpy.ts';
import { plain } from '../support/builds.ts';
import {
  type DrawnEncoder,
  drawnModels,
  drawnOptions,
  drawnSeen,
  type StoredNumbers,
} from '../support/drawnModels.ts';
import { largestDifference } from '../support/numbers.ts';
import type { DrawnModel } from './drawn.ts';
import { oraclePatches } from './patches.ts';

const page = join(root, 'docs/families.md');
const folder = mkdtempSync(join(tmpdir(), 'superpose-table-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Files of tests/reference/README.md that a test must tell from the right reading, beside those of all families. */
const traps: Partial<Record<FamilyId, string>> = {
  roberta: 'first position in row 0',
  mpnet: 'first position in row 0; bias divided',
  electra: 'projection left out',
  'clip-vision': 'one norm for two; columns first; patch bias on the class',
  vit: 'columns first; patch bias on the class',
};
const ofAll = 'transposed weight, wrong heads';

interface Found {
  float64: number;
  float32: number;
}
const none: Found = { float64: 0, float32: 0 };
const precisions = ['float64', 'float32'] as const;

/** The largest difference from tests/reference/families.json, of scores and where all layers are run of states. */
async function fromCheckpoints(family: FamilyId): Promise<Found | undefined> {
  const found = { ...none };
  const file = family.replace(/-.*/, '');
  const all = families.cases.filter((one) => one.family.replace(/-.*/, '') === file);
  let any = false;
  for (const one of all) {
    const logits = (family === 'clip-vision' ? one.vision : one.logits) as number[][][] | undefined;
    if (!logits?.length || family === 'whisper-encoder') continue;
    any = true;
    const options = { ...(one.name === 'vit-timm' && { family }), ...(all.length === 1 && { part: family }) };
    const at = fileURLToPath(new URL(`../../reference/checkpoints/${one.name}`, import.meta.url));
    const model = await openModel(plain, at, options);
    for (const precision of precisions) {
      const worst = (ours: Floats, theirs: number[]) => {
        found[precision] = Math.max(found[precision], largestDifference(ours, theirs));
      };
      const input = model.picture ? { patches: oraclePatches } : { ids: families.ids };
      const scores = await model.decompose(input, { precision });
      worst(scores.logits, logits.flat(2));
      if (!one.states) continue;
      const run = await model.forward(input, { precision });
      for (const [layers, state] of one.states.entries()) worst(run.state(layers).data, state.flat());
      worst(run.logits(1), (one.later_logits as number[][][]).flat(2));
      worst(run.embedding, one.embedding as number[]);
    }
    model.delete();
  }
  return any ? found : undefined;
}

/** The same of models that were drawn. */
async function fromDrawn(cases: readonly DrawnModel[], stored: StoredNumbers): Promise<Found> {
  const found = { ...none };
  for (const one of cases) {
    const model: OpenedModel = await openModel(plain, join(folder, one.name));
    for (const precision of precisions) {
      const worst = (ours: Floats, theirs: Float64Array) => {
        found[precision] = Math.max(found[precision], largestDifference(ours, theirs));
      };
      const run = await model.forward({ ids: one.ids }, { precision });
      for (let layers = 0; layers < (one.states.shape[0] as number); layers++)
        worst(run.state(layers).data, stored(one.states, layers));
      worst(run.last().data, stored(one.last));
    }
    model.delete();
  }
  return found;
}

/** The same of models that tests/reference/drawn_encoders.py draws. */
async function fromEncoders(cases: readonly DrawnEncoder[], stored: StoredNumbers): Promise<Found> {
  const found = { ...none };
  for (const one of cases) {
    const model = await openModel(plain, join(folder, one.name), drawnOptions(one));
    const input = one.ids ? { ids: one.ids } : drawnSeen(one, stored, 0);
    for (const precision of precisions) {
      const worst = (ours: Floats, theirs: Float64Array) => {
        found[precision] = Math.max(found[precision], largestDifference(ours, theirs));
      };
      const run = await model.forward(input, { precision });
      worst(run.last().data, stored(one.last));
      for (let layer = 0; layer < one.layers; layer++) {
        worst(run.state(layer + 1).data, stored(one.states, layer + 1));
        worst(run.logits(layer), stored(one.logits, layer));
      }
    }
    model.delete();
  }
  return found;
}

/**
 * A power of ten that it is well below. Rounding differs between processors, so a written bound stays while it holds, and
 * is less than a thousand times too wide.
 */
function below(value: number, written = ''): string {
  const bound = Number(written.slice(2));
  return value < bound && 1000 * value > bound ? written : `< 1e${Math.floor(Math.log10(3 * value)) + 1}`;
}

test.skipIf(withoutNumpy)(
  'the table of families in the documentation is what is found',
  async () => {
    const decoders = await drawnModels<{ cases: DrawnModel[] }>('decoders', 1, folder);
    const relatives = await drawnModels<{ cases: DrawnModel[] }>('relative', 1, folder);
    const encoders = await drawnModels<{ cases: DrawnEncoder[] }>('encoders', 1, folder);
    const written = readFileSync(page, 'utf8');
    const rows: string[][] = [];
    for (const family of familyIds) {
      const { name, types, ...facts } = modelFamilies[family];
      const of = <One extends { family: FamilyId }>(one: One) => one.family === family;
      const drawn = [decoders, relatives].map((one) => ({ ...one, cases: one.drawn.cases.filter(of) }));
      const others = encoders.drawn.cases.filter(of);
      const committed = await fromCheckpoints(family);
      const random = [await fromEncoders(others, encoders.stored)];
      for (const { cases, stored } of drawn) random.push(await fromDrawn(cases, stored));
      const cases = [...drawn.flatMap(({ cases }) => cases), ...others];
      const known = committed !== undefined || cases.length > 0;
      const before = written
        .split('\n')
        .find((line) => line.startsWith(`| ${name} |`))
        ?.match(/< 1e-\d+/g);
      const largest = precisions.map((precision, column) =>
        known
          ? below(Math.max(...[committed ?? none, ...random].map((one) => one[precision])), before?.[column])
          : '–',
      );
      const all = 'layers' in facts;
      const relative = all && !committed && others.length === 0;
      const wrong = [...new Set(cases.flatMap((one) => Object.keys(one.wrong)))];
      rows.push([
        name,
        types.map((type) => `\`${type}\``).join(', '),
        all ? 'all layers' : committed ? 'first scores' : 'tables alone',
        relative
          ? 'each layer: `mechanism`, `mean`'
          : all
            ? 'each layer: `direct`, `streams`, `mean`'
            : committed
              ? 'first layer'
              : '–',
        ...largest,
        [committed ? ofAll : '', traps[family] ?? '', ...wrong].filter(Boolean).join('; '),
      ]);
    }
    const columns = [
      'family',
      'model_type',
      'run',
      'taken apart',
      'largest difference in float64',
      'in float32',
      'wrong readings that a test tells',
    ];
    const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
    const made = [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
    const now = written.replace(/^\|[\s\S]*\|$/m, made);
    if (process.env.SUPERPOSE_WRITE) writeFileSync(page, now);
    else expect(written).toBe(now);
    expect(now).toContain(made);
  },
  120_000,
);
