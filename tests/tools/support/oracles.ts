// The oracles of tests/reference: their list, the files of each, running them again, and how far their
// numbers may be from the committed ones, as the last column of the table in tests/reference/README.md says.
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { execute, root } from '../../package/support/project.ts';
import { python } from './numpy.ts';

interface Rule {
  /** Matches the name of a key on the path to the number; undefined matches any path. */
  key?: RegExp;
  allowed(theirs: number, largest: number): number;
}

/** Each notation of a tolerance, and the tolerance, given the number, its array's largest, and the size. */
const notations: [RegExp, (theirs: number, largest: number, size: number) => number][] = [
  [/^exact$/, () => 0],
  [/^(\S+)$/, (_theirs, _largest, size) => size],
  [/^(\S+) relative$/, (theirs, _largest, size) => size * Math.abs(theirs)],
  [/^(\S+) of the array$/, (_theirs, largest, size) => size * largest],
];

/** The rules for each oracle's numbers. The last rule that fits a number counts. */
export function rulesOf(readme: string): Map<string, Rule[]> {
  const [table = ''] = readme.match(/^\| file \| formula \| tolerance \|\n(\|.*\n)+/m) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm)];
  return new Map(rows.map(([, oracle = '', column = '']) => [oracle, column.split('; ').flatMap(rulesIn)]));
}

function rulesIn(clause: string): Rule[] {
  const [alternatives = '', keys] = clause.split(' in ');
  const allowances = alternatives.split(' or ').map((tolerance) => {
    for (const [pattern, allowed] of notations) {
      const [match, size = 0] = tolerance.match(pattern) ?? [];
      if (match && !Number.isNaN(Number(size)))
        return (theirs: number, largest: number) => allowed(theirs, largest, Number(size));
    }
    throw new Error(`tests/reference/README.md has a tolerance that cannot be read: ${clause}`);
  });
  const allowed = (theirs: number, largest: number) =>
    Math.max(...allowances.map((allowance) => allowance(theirs, largest)));
  if (!keys) return [{ allowed }];
  return [...keys.matchAll(/`([\w*]+)`/g)].map(([, key = '']) => ({
    allowed,
    key: new RegExp(`^${key.replaceAll('*', '.*')}$`),
  }));
}

/** The places where `ours` is further from `theirs` than allowed, in at most ten sentences. */
export function differences(theirs: unknown, ours: unknown, rules: Rule[]): string[] {
  const differences: string[] = [];
  compare(theirs, ours, [], undefined);
  return differences;

  function compare(first: unknown, other: unknown, path: string[], largest: number | undefined): void {
    if (differences.length >= 10) return;
    const isList = Array.isArray(first);
    if (isList !== Array.isArray(other) || !isObject(first) || !isObject(other)) {
      if (!same(first, other, path, largest))
        differences.push(`${path.join('.')} is ${JSON.stringify(first)}, and now ${JSON.stringify(other)}`);
      return;
    }
    // The largest over all rows of an array; a list of objects has none.
    const inside = isList ? (largest ?? largestOf(first)) : undefined;
    for (const key of new Set([...Object.keys(first), ...Object.keys(other)]))
      compare(first[key], other[key], [...path, key], inside);
  }

  function same(first: unknown, other: unknown, path: string[], largest = 0): boolean {
    if (typeof first !== 'number' || typeof other !== 'number') return first === other;
    // Counts and ids are exact. A single whole number may be 0.0, which JSON does not distinguish from 0.
    if (Number.isInteger(first) && Number.isInteger(other)) return first === other;
    const rule = rules.findLast(({ key }) => !key || path.some((step) => key.test(step)));
    return Math.abs(first - other) <= (rule?.allowed(first, Math.max(largest, Math.abs(first))) ?? 0);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const largestOf = (value: unknown): number => {
  if (typeof value === 'number') return Math.abs(value);
  return Array.isArray(value) ? value.reduce((most, item) => Math.max(most, largestOf(item)), 0) : 0;
};

const folder = join(root, 'tests/reference');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const namesOf = (ending: string, ...but: string[]) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .filter((name) => !but.includes(name));

export const rules = rulesOf(read('README.md'));
/**
 * Not oracles are oracle_json and encoder, which oracles call, and drawn_*.py, which draw what is not
 * committed. The longest scripts take longest, so they come first.
 */
export const oracles = namesOf('.py', 'oracle_json', 'encoder')
  .filter((name) => !name.startsWith('drawn_'))
  .sort((a, b) => read(`${b}.py`).length - read(`${a}.py`).length);
/** The core wrote figures.json. */
export const results = namesOf('.json', 'figures', 'digests');

/** The names of a script and of those that it imports. */
export function scriptsOf(name: string, known = new Set<string>()): string[] {
  known.add(name);
  for (const [, other = ''] of read(`${name}.py`).matchAll(/^(?:from|import) (\w+)/gm))
    if (!known.has(other) && existsSync(join(folder, `${other}.py`))) scriptsOf(other, known);
  return [...known].sort();
}

export function digestOf(texts: string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex');
}

/** The digest of an oracle's scripts and of the numbers that they wrote. */
export const digest = (oracle: string) =>
  digestOf([...scriptsOf(oracle).map((name) => read(`${name}.py`)), read(`${oracle}.json`)]);

/**
 * Returns a function that runs an oracle in a copy of the folder, and says where its numbers are not the
 * committed ones.
 */
export function runningAgain() {
  const copy = mkdtempSync(join(tmpdir(), 'superpose-oracles-'));
  afterAll(() => rmSync(copy, { recursive: true }));
  const reference = join(copy, 'tests/reference');
  mkdirSync(reference, { recursive: true });
  // The numbers are copied, too: a script keeps those that it could make only from data not at hand.
  for (const name of readdirSync(folder))
    if (/\.(py|json)$/.test(name)) cpSync(join(folder, name), join(reference, name));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return async (oracle: string, environment: NodeJS.ProcessEnv, ...options: string[]): Promise<string[]> => {
    const script = join(reference, `${oracle}.py`);
    const outcome = await execute(python, [script, ...options], copy, environment);
    expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0);
    expect(outcome.stdout).toMatch(new RegExp(`^${oracle}\\.json: \\d+ bytes$`, 'm'));
    const again = JSON.parse(readFileSync(script.replace(/py$/, 'json'), 'utf8'));
    return differences(JSON.parse(read(`${oracle}.json`)), again, rules.get(oracle) ?? []);
  };
}
