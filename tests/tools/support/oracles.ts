// The oracles of tests/reference: which there are, what they are made of, and running them again.
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
import { differences, rulesOf } from './tolerances.ts';

const folder = join(root, 'tests/reference');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const namesOf = (ending: string, ...but: string[]) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .filter((name) => !but.includes(name));

export const rules = rulesOf(read('README.md'));
/** oracle_json and encoder are no oracles, but what some call, and drawn_*.py draw what is not committed. The longest take longest, so they come first. */
export const oracles = namesOf('.py', 'oracle_json', 'encoder')
  .filter((name) => !name.startsWith('drawn_'))
  .sort((a, b) => read(`${b}.py`).length - read(`${a}.py`).length);
/** The core wrote figures.json. */
export const results = namesOf('.json', 'figures', 'digests');

/** A script and those that it imports. */
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

/** Of an oracle's scripts and of what they wrote. */
export const digest = (oracle: string) =>
  digestOf([...scriptsOf(oracle).map((name) => read(`${name}.py`)), read(`${oracle}.json`)]);

/** A function that runs an oracle in a copy of the folder, and says where its numbers are not the committed ones. */
export function runningAgain() {
  const copy = mkdtempSync(join(tmpdir(), 'superpose-oracles-'));
  afterAll(() => rmSync(copy, { recursive: true }));
  const reference = join(copy, 'tests/reference');
  mkdirSync(reference, { recursive: true });
  // The numbers are copied too: a script keeps those that it could only make from other data.
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
