// A Python with numpy, for the oracles of tests/reference.
import { execFileSync } from 'node:child_process';

const hasNumpy = (python: string) => {
  try {
    execFileSync(python, ['-c', 'import numpy'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const found = ['/usr/bin/python3', 'python3'].find(hasNumpy);
if (!found) console.log('No python3 here has numpy (Debian: python3-numpy), so the oracles are not run.');

/** Debian's numpy belongs to Debian's Python, whatever other is first on PATH. */
export const python = found ?? 'python3';

/** True without numpy: then there is nothing to run, except that with CI=true it is a failure. */
export const withoutNumpy = !found && process.env.CI !== 'true';

/** One thread each, because scripts run side by side. */
export const oneThread = { ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1' };
