// Native code by g++, as a runtime: the limit that the decomposition and training are compared with.
import { exec, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { remembering } from '../cmake.mjs';
import { unlessStamped } from '../stamps.mjs';
import { ask, root, which } from '../steps.mjs';
import { fourTerms } from './fourTerms.js';
import { arraysOf } from './numbers.js';
import { training } from './training.js';

/** Vectors of 128 bits, without fused multiply-adds. `eigen` is the prefix with Eigen's headers. */
export const native = (eigen) => built('native SSE4.1', ['-msse4.1'], eigen);

/** Vectors of 256 bits, with fused multiply-adds. */
export function nativeAvx2(eigen) {
  if (!hasAvx2()) throw new Error('This processor has no AVX2 and FMA.');
  return built('native AVX2 FMA', ['-mavx2', '-mfma'], eigen);
}

export const hasAvx2 = () => {
  const flags = readFileSync('/proc/cpuinfo', 'utf8').split(/\s/);
  return flags.includes('avx2') && flags.includes('fma');
};

/** The program, compiled and started: a function that sends it a line and returns its answer, and one that ends it. */
async function started(output, flags, eigen) {
  const main = 'tools/bench/native.cpp';
  const command = ['-std=c++20', '-O3', '-DNDEBUG', ...flags, '-Isrc/core', `-I${eigen}/include/eigen3`];
  const inputs = [main, 'src/core'];
  mkdirSync(join(root, 'build/bench'), { recursive: true });
  await unlessStamped(output.replaceAll('/', '-'), { inputs, outputs: [output], key: command.join() }, () => {
    const compiler = [...(which('ccache') ? ['ccache'] : []), 'g++', ...command].join(' ');
    return promisify(exec)(`${compiler} -c ${main} -o ${output}.o && g++ ${output}.o -o ${output}`, {
      cwd: root,
      env: remembering(root),
    });
  });
  const child = spawn(join(root, output), { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tell = async (...words) => {
    child.stdin.write(`${words.join(' ')}\n`);
    return (await lines.next()).value;
  };
  return { tell, close: () => child.kill() };
}

async function built(name, flags, eigen) {
  const output = `build/bench/${name.replaceAll(/\W+/g, '-')}`;
  const { tell, close } = await started(output, flags, eigen);
  const cases = {
    four: { job: fourTerms, engines: ['native Eigen', 'native kernel'] },
    training: { job: training, engines: [`${name} kernels`] },
  };
  let current;

  async function prepare(shape) {
    const [kind, { job, engines }] = current;
    const input = job.inputOf(shape);
    const file = join(root, `${output}.data`);
    writeFileSync(file, Buffer.concat(arraysOf(input).map(({ buffer }) => new Uint8Array(buffer))));
    const { n, d, heads } = shape;
    await tell(kind, file, n, d, heads, input.sequences, input.batches?.length, job.steps);
    const answers = new Float32Array(new Uint8Array(readFileSync(file)).buffer);
    rmSync(file);
    const { load } = await import(join(root, 'build/package/index.js'));
    const reference = job.referenceOf(input, { superpose: [await load({ simd: 'plain' })] });
    const size = answers.length / engines.length;
    return engines.map((engine, at) => {
      const error = job.errorOf(answers.subarray(at * size, (at + 1) * size), reference, input);
      return { engine, peer: false, error, right: error <= job.allowed };
    });
  }

  async function round() {
    const [, { job, engines }] = current;
    const found = (await tell('round')).trim().split(' ').map(Number);
    if (job === training && found[1] > 0)
      throw new Error(`${engines[0]} took memory ${found[1]} times in a round of steps.`);
    return Object.fromEntries(engines.map((engine, at) => [engine, found[2 * at]]));
  }

  return {
    name,
    about: () => `g++ ${ask('g++', ['-dumpfullversion'])} -O3 ${flags.join(' ')}`,
    async order({ job, shape }) {
      if (!job) return round();
      current = Object.entries(cases).find(([, one]) => one.job.name === job);
      return current ? prepare(shape) : [];
    },
    close,
  };
}
