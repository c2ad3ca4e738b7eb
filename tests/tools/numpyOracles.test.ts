// The oracles of tests/reference: each script has its numbers and its tolerance. A script that has changed
// since digests.json was written is run again, and must give the committed numbers.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../package/support/project.ts';
import { oneThread, withoutNumpy } from './support/numpy.ts';
import { digest, oracles, results, rules, runningAgain } from './support/oracles.ts';

const file = join(root, 'tests/reference/digests.json');
const known: Record<string, string> = JSON.parse(readFileSync(file, 'utf8'));
const changed = oracles.filter((oracle) => known[oracle] !== digest(oracle));
const runAgain = runningAgain();

test('every oracle has its numbers and its tolerance, and there are no others', () => {
  expect(oracles.length).toBeGreaterThan(10);
  expect([...results].sort()).toEqual([...oracles].sort());
  expect([...rules.keys()].sort()).toEqual([...oracles].sort());
});

test.skipIf(withoutNumpy && changed.length > 0)('those that changed give what is committed', async () => {
  for (const oracle of changed) expect(await runAgain(oracle, oneThread), oracle).toEqual([]);
  if (changed.length === 0) return;
  if (process.env.SUPERPOSE_WRITE) {
    const lines = [...oracles].sort().map((oracle) => `"${oracle}":"${digest(oracle)}"`);
    writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
  } else {
    const all = changed.join(', ');
    console.log(
      `Run again, since they changed: ${all}. SUPERPOSE_WRITE=1 npm test -- node numpyOracles.test notes that.`,
    );
  }
});
