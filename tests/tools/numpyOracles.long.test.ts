// Runs every oracle of tests/reference again, on this machine and as on one without newer instructions, to
// see that nobody has changed a script without its numbers, or a number by hand.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { olderMachine, oneThread, python, withoutNumpy } from './support/numpy.ts';
import { oracles, runningAgain } from './support/oracles.ts';

const [here, older] = [runningAgain(), runningAgain()];

test.skipIf(withoutNumpy).concurrent.each(oracles)('%s.py gives what is committed', async (oracle) => {
  expect(await here(oracle, oneThread)).toEqual([]);
});

// The numbers that an oracle draws depend on its seed alone, not on the last bits of a machine's sums.
// Oracles that read the real model take longest and draw little, so they are left out.
const drawing = oracles.filter((oracle) => !['minilm', 'minilm_sums', 'depth', 'values'].includes(oracle));

test.skipIf(withoutNumpy).concurrent.each(drawing)(
  '%s.py gives the same on a machine without newer instructions',
  async (oracle) => {
    // The run above has already checked its gradients, which takes most of its time.
    const options = oracle === 'training' ? ['--no-differences'] : [];
    expect(await older(oracle, olderMachine(), ...options)).toEqual([]);
  },
);

test.skipIf(withoutNumpy)('numpy takes none of them on that machine', () => {
  const taken =
    'from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__; print([f for f in __cpu_dispatch__ if __cpu_features__[f]])';
  expect(execFileSync(python, ['-c', taken], { env: olderMachine(), encoding: 'utf8' })).toBe('[]\n');
});
