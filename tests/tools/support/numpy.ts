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

const withNumpy = ['/usr/bin/python3', 'python3'].find(hasNumpy);
if (!withNumpy) console.log('No python3 here has numpy (Debian: python3-numpy), so the oracles are not run.');

/** Debian's Python before any other on PATH, because Debian's numpy belongs to it. */
export const python = withNumpy ?? 'python3';

/** Whether to skip what needs numpy. With CI=true nothing is skipped: a missing numpy is then a failure. */
export const withoutNumpy = !withNumpy && process.env.CI !== 'true';

/** An environment in which each script uses one thread, because scripts run side by side. */
export const oneThread = { ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1' };

/**
 * An environment that imitates a machine without the optional instructions that numpy, OpenBLAS and the C
 * library choose from.
 */
export function olderMachine(): NodeJS.ProcessEnv {
  const chosen =
    'from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__; print(*(f for f in __cpu_dispatch__ if __cpu_features__[f]))';
  // Instructions that the caller has switched off would be missing from the list, so they are switched on.
  const { NPY_DISABLE_CPU_FEATURES: _, ...all } = process.env;
  return {
    ...oneThread,
    NPY_DISABLE_CPU_FEATURES: execFileSync(python, ['-c', chosen], { encoding: 'utf8', env: all }).trim(),
    OPENBLAS_CORETYPE: 'Nehalem',
    GLIBC_TUNABLES: 'glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F',
  };
}
