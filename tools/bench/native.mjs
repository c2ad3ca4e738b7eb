// Native code by g++, as a runtime: the limit that the decomposition is compared with.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { remembering } from '../cmake.mjs';
import { unlessStamped } from '../stamps.mjs';
import { root, which } from '../steps.mjs';
import { allowedError, errorOf, inputOf, placesOf, referenceAt } from './job.js';
import { bytesOf, training } from './training.js';

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

/** Compiles each file by itself, on all cores, so that unchanged files come from the compiler cache. */
async function compile(sources, command, output) {
  const objects = sources.map((source) => `${output}.${source.replaceAll('/', '-')}.o`);
  const [program, ...before] = [...(which('ccache') ? ['ccache'] : []), 'g++'];
  const compiler = (args) =>
    promisify(execFile)(program, [...before, ...args], { cwd: root, env: remembering(root) });
  const left = sources.map((source, at) => [...command, '-c', source, '-o', objects[at]]);
  const work = async () => {
    for (let args = left.shift(); args; args = left.shift()) await compiler(args);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  await compiler([...objects, '-o', output]);
  for (const object of objects) rmSync(object);
}

/**
 * A program with part of the core, compiled and started. Sends it a line, and returns the line it answers.
 */
async function program(name, main, core, flags, eigen) {
  const output = `build/bench/${name.replaceAll(/\W+/g, '-')}`;
  const sources = [main, ...core.map((one) => `src/core/${one}.cpp`)];
  const command = ['-std=c++20', '-O3', '-DNDEBUG', ...flags, '-Isrc/core', `-I${eigen}/include/eigen3`];
  mkdirSync(join(root, 'build/bench'), { recursive: true });
  await unlessStamped(
    output.replaceAll('/', '-'),
    { inputs: [main, 'src'], outputs: [output], key: [...command, ...core].join(' ') },
    () => compile(sources, command, output),
  );
  const child = spawn(join(root, output), { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tell = async (line) => {
    child.stdin.write(`${line}\n`);
    return (await lines.next()).value;
  };
  return { output, tell, close: () => child.kill() };
}

/** The library's own training kernels, in a program that is started on demand. */
function trainingProgram(name, flags, eigen) {
  const core = ['fusion', 'kernels', 'model', 'optimizer', 'parameters', 'tasks', 'trainer'].map(
    (one) => `training/${one}`,
  );
  core.push(...['relative_position', 'rotary', 'sinusoidal', 'stretch'].map((one) => `encodings/${one}`));
  core.push('numeric/in_place', 'numeric/random');
  let started;
  const engine = `${name} kernels`;
  return {
    async prepare(shape) {
      started ??= await program(`${name} training`, 'tools/bench/training.cpp', core, flags, eigen);
      const input = training.inputOf(shape);
      const { load } = await import(join(root, 'build/package/index.js'));
      const file = join(root, `${started.output}.input`);
      writeFileSync(file, Buffer.concat(bytesOf(input)));
      const { n, d, heads, sequences, batches, steps } = input;
      const line = await started.tell(
        `shape ${n} ${d} ${heads} ${sequences} ${batches.length} ${steps} ${file}`,
      );
      rmSync(file);
      const reference = training.referenceOf(input, { superpose: [await load({ simd: 'plain' })] });
      const error = training.errorOf(input, Float64Array.from(line.trim().split(' '), Number), reference);
      return [{ engine, peer: false, error, right: error <= training.allowed }];
    },
    async round() {
      const [time, allocations] = (await started.tell('round')).split(' ').map(Number);
      if (allocations > 0) throw new Error(`${engine} took memory ${allocations} times in a round of steps.`);
      return { [engine]: time };
    },
    close: () => started?.close(),
  };
}

/** A native runtime. Its two engines are Eigen's product and the library's; it also trains. */
async function built(name, flags, eigen) {
  const core = ['scores/decomposition', 'scores/layer_norm', 'numeric/product'];
  const { output, tell, close } = await program(name, 'tools/bench/native.cpp', core, flags, eigen);
  const trains = trainingProgram(name, flags, eigen);
  let current;
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
      current = job ?? current;
      if (current === training.name) return job ? trains.prepare(shape) : trains.round();
      if (job) return job === 'four terms' ? prepare(shape) : [];
      const times = (await tell('round')).split(' ').map(Number);
      return Object.fromEntries(round.map((engine) => [engine, times[names.indexOf(engine)]]));
    },
    close: () => {
      trains.close();
      close();
    },
  };
}
