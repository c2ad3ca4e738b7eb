// Runs the oracles of tests/reference again. They must give what is committed, within the tolerances that
// their README states: nobody has changed a script without its numbers, or a number by hand.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { execute, root } from '../package/support/project.ts';
import { olderMachine, oneThread, python, withoutNumpy } from './support/numpy.ts';
import { differences, rulesOf } from './support/tolerances.ts';

const folder = join(root, 'tests/reference');
const namesOf = (ending: string, ...but: string[]) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .filter((name) => !but.includes(name));

// oracle_json is no oracle, drawn_*.py draw what is not committed, and figures.json comes from the
// core. The longest scripts take longest, so they start first.
const lengthOf = (oracle: string) => readFileSync(join(folder, `${oracle}.py`)).length;
const oracles = namesOf('.py', 'oracle_json')
  .filter((name) => !name.startsWith('drawn_'))
  .sort((a, b) => lengthOf(b) - lengthOf(a));
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const rules = rulesOf(readme);
const committed = (oracle: string) => JSON.parse(readFileSync(join(folder, `${oracle}.json`), 'utf8'));

const copies: string[] = [];
function copyOfFolder(): string {
  const copy = mkdtempSync(join(tmpdir(), 'superpose-oracles-'));
  copies.push(copy);
  const reference = join(copy, 'tests/reference');
  mkdirSync(reference, { recursive: true });
  // The numbers are copied too: a script keeps those that it could only make from other data.
  for (const name of readdirSync(folder))
    if (/\.(py|json)$/.test(name)) cpSync(join(folder, name), join(reference, name));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}
const [here, older] = [copyOfFolder(), copyOfFolder()];
afterAll(() => {
  for (const copy of copies) rmSync(copy, { recursive: true });
});

/** Runs a script in a copy of the folder. */
async function runAgain(
  oracle: string,
  copy: string,
  environment: NodeJS.ProcessEnv,
  ...options: string[]
): Promise<unknown> {
  const script = join(copy, 'tests/reference', `${oracle}.py`);
  const outcome = await execute(python, [script, ...options], copy, environment);
  expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0);
  expect(outcome.stdout).toMatch(new RegExp(`^${oracle}\\.json: \\d+ bytes$`, 'm'));
  return JSON.parse(readFileSync(script.replace(/py$/, 'json'), 'utf8'));
}

test('every oracle has its numbers, its command and its tolerance, and there are no others', () => {
  expect(oracles.length).toBeGreaterThan(10);
  expect(namesOf('.json', 'figures').sort()).toEqual([...oracles].sort());
  expect([...rules.keys()].sort()).toEqual([...oracles].sort());
  for (const oracle of oracles) expect(readme).toContain(`python3 tests/reference/${oracle}.py`);
});

test.skipIf(withoutNumpy).concurrent.each(oracles)('%s.py gives what is committed', async (oracle) => {
  const again = await runAgain(oracle, here, oneThread);
  expect(differences(committed(oracle), again, rules.get(oracle) ?? [])).toEqual([]);
});

// What an oracle draws depends on its seed alone, not on the last bits of a machine's sums. Those that read the real
// model take longest and draw little, so they are left out.
const drawing = oracles.filter((oracle) => !['minilm', 'depth', 'values'].includes(oracle));

test.skipIf(withoutNumpy).concurrent.each(drawing)(
  '%s.py gives the same on a machine without newer instructions',
  async (oracle) => {
    // That its gradients are right, which takes most of its time, the run above has seen.
    const options = oracle === 'training' ? ['--no-differences'] : [];
    const again = await runAgain(oracle, older, olderMachine(), ...options);
    expect(differences(committed(oracle), again, rules.get(oracle) ?? [])).toEqual([]);
  },
);

test.skipIf(withoutNumpy)('numpy takes none of them on that machine', () => {
  const taken =
    'from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__; print([f for f in __cpu_dispatch__ if __cpu_features__[f]])';
  expect(execFileSync(python, ['-c', taken], { env: olderMachine(), encoding: 'utf8' })).toBe('[]\n');
});

test.each(oracles)('a number of %s.json that is not the oracle’s would be seen', (oracle) => {
  const tolerances = rules.get(oracle) ?? [];
  const found = numbersIn(committed(oracle)).filter(({ value }) => value !== 0);
  expect(found.length).toBeGreaterThan(20);
  // The largest number of each key, changed by a hundredth.
  const bySize = found.sort((a, b) => Math.abs(a.value) - Math.abs(b.value));
  const keys = new Map(bySize.map((one) => [one.key, one]));
  const theirs = committed(oracle);
  const changed = committed(oracle);
  for (const { path, value } of keys.values()) {
    put(changed, path, value * 1.01);
    expect(differences(theirs, changed, tolerances), path.join('.')).toHaveLength(1);
    put(changed, path, value);
  }
});

test('a tolerance lets small differences pass and larger ones fail', () => {
  const table =
    '| file | formula | tolerance |\n|---|---|---|\n| `a` | x | 1e-3; exact in `b`; 1e-2 relative in `c_*`; 1e-2 relative or 1 in `d`; 1e-2 of the array in `e` |\n';
  const tolerances = rulesOf(table).get('a') ?? [];
  const sees = (theirs: unknown, ours: unknown) => differences(theirs, ours, tolerances).length > 0;
  expect(sees({ x: 0.5 }, { x: 0.5009 })).toBe(false);
  expect(sees({ x: 0.5 }, { x: 0.5011 })).toBe(true);
  expect(sees({ b: { x: [0.5] } }, { b: { x: [0.5000001] } })).toBe(true);
  expect(sees({ c_1: 1000.5 }, { c_1: 1010 })).toBe(false);
  expect(sees({ c_1: 1000.5 }, { c_1: 1020 })).toBe(true);
  expect(sees({ d: 0.5 }, { d: 1.4 })).toBe(false);
  expect(sees({ d: 0.5 }, { d: 1.6 })).toBe(true);
  expect(sees({ e: [0.001, 10.5] }, { e: [0.1, 10.5] })).toBe(false);
  expect(sees({ e: [0.001, 10.5] }, { e: [0.2, 10.5] })).toBe(true);
  expect(sees({ e: [[0.001], [10.5]] }, { e: [[0.1], [10.5]] })).toBe(false);
  expect(sees({ e: [{ x: [0.001] }, { x: [10.5] }] }, { e: [{ x: [0.1] }, { x: [10.5] }] })).toBe(true);
  // Whole numbers, words, missing values and shapes.
  expect(sees({ c_1: 1000 }, { c_1: 1001 })).toBe(true);
  expect(sees({ x: 'a' }, { x: 'b' })).toBe(true);
  expect(sees({ x: null }, { x: 0 })).toBe(true);
  expect(sees({ x: 0.5 }, { x: null })).toBe(true);
  expect(sees({ x: [0.5] }, { x: [0.5, 0.5] })).toBe(true);
  expect(sees({ x: 0.5 }, { y: 0.5 })).toBe(true);
  expect(() => rulesOf(table.replace('1e-3', 'about right'))).toThrow('about right');
});

interface Place {
  path: (string | number)[];
  key: string;
  value: number;
}

function numbersIn(value: unknown, path: (string | number)[] = []): Place[] {
  if (typeof value === 'number')
    return [{ path, key: String(path.filter((step) => typeof step === 'string').at(-1)), value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    numbersIn(item, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function put(document: unknown, path: (string | number)[], value: number): void {
  let at = document as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
  at[path.at(-1) as string | number] = value;
}
