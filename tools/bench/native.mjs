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

/** Compiles the program, with ccache in a step that it can remember. */
function compiled(output, flags, eigen) {
  const main = 'tools/bench/native.cpp';
  const command = ['-std=c++20', '-O3', '-DNDEBUG', ...flags, '-Isrc/core', `-I${eigen}/include/eigen3`];
  mkdirSync(join(root, 'build/bench'), { recursive: true });
  const stamp = { inputs: [main, 'src/core'], outputs: [output], key: command.join() };
  return unlessStamped(output.replaceAll('/', '-'), stamp, () => {
    const compiler = [...(which('ccache') ? ['ccache'] : []), 'g++', ...command].join(' ');
    const both = `${compiler} -c ${main} -o ${output}.o && g++ ${output}.o -o ${output}`;
    return promisify(exec)(both, { cwd: root, env: remembering(root) });
  });
}

async function built(name, flags, eigen) {
  const output = `build/bench/${name.replaceAll(/\W+/g, '-')}`;
  await compiled(output, flags, eigen);
  const enginesOf = {
    [fourTerms.name]: ['native Eigen', 'native kernel'],
    [training.name]: [`${name} kernels`],
  };
  let engines = [];
  let child;
  let lines;
  const nextLine = async () => (await lines.next()).value;

  /** Starts the program on a job's input, and checks what it leaves in the file. */
  async function prepare(job, shape) {
    child?.kill();
    const input = job.inputOf(shape);
    const file = join(root, `${output}.data`);
    writeFileSync(file, Buffer.concat(arraysOf(input).map(({ buffer }) => new Uint8Array(buffer))));
    const { n, d, heads } = shape;
    const sizes = job === training ? [input.sequences, input.batches.length, job.steps] : [];
    const words = [file, job === training ? 'training' : 'four', n, d, heads, ...sizes].map(String);
    child = spawn(join(root, output), words, { stdio: ['pipe', 'pipe', 'inherit'] });
    lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await nextLine();
    const answers = new Float32Array(new Uint8Array(readFileSync(file)).buffer);
    rmSync(file);
    const { load } = await import(join(root, 'build/package/index.js'));
    const reference = job.referenceOf(input, { superpose: [await load({ simd: 'plain' })] });
    engines = enginesOf[job.name];
    const size = answers.length / engines.length;
    return engines.map((engine, at) => {
      const error = job.errorOf(answers.subarray(at * size, (at + 1) * size), reference, input);
      return { engine, peer: false, error, right: error <= job.allowed };
    });
  }

  /** Milliseconds and allocations of each engine. */
  async function round() {
    child.stdin.write('\n');
    const found = (await nextLine()).trim().split(' ').map(Number);
    if (engines === enginesOf[training.name] && found[1] > 0)
      throw new Error(`${engines[0]} took memory ${found[1]} times in a round of steps.`);
    return Object.fromEntries(engines.map((engine, at) => [engine, found[2 * at]]));
  }

  return {
    name,
    about: () => `g++ ${ask('g++', ['-dumpfullversion'])} -O3 ${flags.join(' ')}`,
    async order({ job: wanted, shape }) {
      if (!wanted) return round();
      const job = [fourTerms, training].find((one) => one.name === wanted);
      return job ? prepare(job, shape) : [];
    },
    close: () => child?.kill(),
  };
}
