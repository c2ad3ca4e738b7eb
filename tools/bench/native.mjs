// The limit that the decomposition is measured against: native code by g++, as a runtime of its own.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { unlessStamped } from '../stamps.mjs';
import { root } from '../steps.mjs';
import { allowedError, errorOf, inputOf, placesOf, referenceAt } from './job.js';

/** In vectors of 128 bit, without fused multiply-adds; Eigen is below the prefix. */
export const native = (eigen) => built('native SSE4.1', ['-msse4.1'], eigen);

/** In vectors of 256 bit, with them. */
export function nativeAvx2(eigen) {
  if (!hasAvx2()) throw new Error('This processor has no AVX2 and FMA.');
  return built('native AVX2 FMA', ['-mavx2', '-mfma'], eigen);
}

export const hasAvx2 = () => {
  const flags = readFileSync('/proc/cpuinfo', 'utf8').split(/\s/);
  return flags.includes('avx2') && flags.includes('fma');
};

/** Its two engines are Eigen's product and the library's. */
async function built(name, flags, eigen) {
  const output = `build/bench/${name.replaceAll(/\W+/g, '-')}`;
  const sources = [
    'tools/bench/native.cpp',
    ...['scores/decomposition_layer', 'scores/gauge', 'scores/layer_norm', 'numeric/product'].map(
      (one) => `src/core/${one}.cpp`,
    ),
  ];
  const command = ['-std=c++20', '-O3', '-DNDEBUG', ...flags, '-Isrc/core', `-I${eigen}/include/eigen3`];
  mkdirSync(join(root, 'build/bench'), { recursive: true });
  await unlessStamped(
    output.replaceAll('/', '-'),
    { inputs: ['tools/bench/native.cpp', 'src'], outputs: [output], key: command.join(' ') },
    () => execFileSync('g++', [...command, ...sources, '-o', output], { cwd: root }),
  );
  const child = spawn(join(root, output), { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tell = async (line) => {
    child.stdin.write(`${line}\n`);
    return (await lines.next()).value;
  };
  const names = ['native Eigen', 'native kernel'];
  const file = join(root, `${output}.terms`);

  async function prepare({ n, d, heads }) {
    await tell(`shape ${n} ${d} ${heads} ${file}`);
    const { buffer, byteOffset, byteLength } = readFileSync(file);
    const terms = new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
    rmSync(file);
    const input = inputOf({ n, d, heads });
    const reference = referenceAt(input, placesOf(input));
    return names.map((engine, at) => {
      const own = terms.subarray((at * terms.length) / 2, ((at + 1) * terms.length) / 2);
      const error = errorOf(input, own, 'heads first', reference);
      return { engine, peer: false, error, right: error <= allowedError };
    });
  }
  return {
    name,
    about: () => `g++ ${execFileSync('g++', ['-dumpfullversion']).toString().trim()} -O3 ${flags.join(' ')}`,
    async order({ job, shape, round }) {
      if (job) return job === 'four terms' ? prepare(shape) : [];
      const times = (await tell('round')).split(' ').map(Number);
      return Object.fromEntries(round.map((engine) => [engine, times[names.indexOf(engine)]]));
    },
    close: () => child.kill(),
  };
}
