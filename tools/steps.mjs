// Named steps, because what compilers and installers print is too long to read: a step shows only that it is
// running, writes its output to build/logs, and on failure names itself, the reason and what to do by hand.
import { spawn, spawnSync } from 'node:child_process';
import {
  constants as access,
  accessSync,
  createWriteStream,
  mkdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

/** The top of the checkout. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** A failure that is reported in full sentences, without a stack. */
export class Failure extends Error {}

const headLines = 8;
const tailLines = 20;
const heartbeatSeconds = 15;
const children = new Set();

/** Returns the path of a program on PATH, or on another path; undefined if it is not there. */
export function which(program, path = process.env.PATH ?? '') {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, program);
    try {
      accessSync(file, access.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // Not in this folder; the next one may have it.
    }
  }
  return undefined;
}

/** Returns what a quick program prints on stdout; undefined if it fails or is missing. */
export function ask(command, args, options = {}) {
  const answer = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, ...options });
  return answer.status === 0 ? answer.stdout.trim() : undefined;
}

/**
 * Runs one named step. `work` gets a function `run(command, args, options)`, which runs a program and fails
 * when the program fails. `options` are those of spawn and two more: `show: true` prints the program's
 * output as it comes, and `mayFail: true` returns its exit code instead of failing. `byHand` says what a
 * person can do when the step fails.
 */
export async function step(name, { byHand }, work) {
  const log = openLog(name);
  const quiet = startProgress(name);
  const started = Date.now();
  try {
    const result = await work((command, args, options) => run(command, args, options, log, quiet));
    console.log(`${name}: ${seconds(started)}`);
    return result;
  } catch (error) {
    console.log(`${name}: failed after ${seconds(started)}`);
    throw new Failure(describe(name, error, log, byHand));
  } finally {
    quiet();
    log.stream.end();
  }
}

/**
 * Runs `main` if Node was started with the module at `url`, reports its failures, and ends with the exit
 * code that it returns.
 */
export async function runTool(url, main) {
  if (realpathSync(process.argv[1]) !== fileURLToPath(url)) return;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      for (const child of children) child.kill(signal);
      process.exit(128 + constants.signals[signal]);
    });
  }
  try {
    process.exitCode = (await main(process.argv.slice(2))) ?? 0;
  } catch (error) {
    console.error(error instanceof Failure ? `\n${error.message}\n` : error);
    process.exitCode = error.exitCode ?? 1;
  }
}

/** A wrong command line: reported in one sentence, exit code 2. */
export function usageError(sentence) {
  return Object.assign(new Failure(sentence), { exitCode: 2 });
}

/** Makes a folder and its parents, and checks that it can be written. */
export function makeFolder(folder, advice = 'Give it to yourself (chown -R) or delete it') {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, access.W_OK);
  } catch (error) {
    throw new Failure(`The folder ${folder} cannot be written (${error.code}). ${advice}, then try again.`);
  }
  return folder;
}

function openLog(name) {
  const slug = name
    .toLowerCase()
    .match(/[a-z0-9]+/g)
    .join('-');
  const file = join(makeFolder(join(root, 'build', 'logs')), `${slug}.log`);
  const log = { file: relative(root, file), text: '', stream: createWriteStream(file) };
  // A full disk must not hide the failure of the step itself.
  log.stream.on('error', () => {});
  return log;
}

function run(command, args, { show, mayFail, ...options } = {}, log, quiet) {
  return new Promise((resolve, reject) => {
    log.stream.write(`$ ${[command, ...args].join(' ')}\n`);
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
    });
    children.add(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        log.stream.write(chunk);
        log.text += chunk;
        if (!show) return;
        quiet();
        process.stdout.write(chunk);
      });
    }
    child.on('error', (error) => reject(new Error(`${command} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      children.delete(child);
      if (code === 0 || (mayFail && code !== null)) resolve(code);
      else reject(new Error(`${command} ended with ${signal ?? `exit code ${code}`}.`));
    });
  });
}

/** When each running step that has shown no output yet began, by name. */
const quietSteps = new Map();
let ticking;

/** Reports every few seconds that a step still runs; returns the function that ends the reports. */
function startProgress(name) {
  const tick = () =>
    console.log([...quietSteps].map(([step, started]) => `${step}: ${seconds(started)}`).join('; '));
  if (quietSteps.size === 0) ticking = setInterval(tick, heartbeatSeconds * 1000);
  quietSteps.set(name, Date.now());
  return () => {
    quietSteps.delete(name);
    if (quietSteps.size === 0) clearInterval(ticking);
  };
}

function describe(name, error, log, byHand) {
  const parts = [`The step "${name}" failed.`, `Why: ${error.message}`];
  const lines = stripVTControlCharacters(log.text).split(/[\r\n]+/);
  const printed = lines.filter((line) => line.trim()).map((line) => `    ${line.trimEnd()}`);
  // The first and the last lines: npm states the error first, compilers and apt last.
  const left = printed.length - headLines - tailLines;
  if (left > 0) printed.splice(headLines, left, `    ... (${left} more lines)`);
  if (!(error instanceof Failure) && printed.length > 0)
    parts.push(`What it printed (all of it in ${log.file}):`, ...printed);
  parts.push(`By hand: ${byHand}`);
  return parts.join('\n');
}

function seconds(started) {
  return `${((Date.now() - started) / 1000).toFixed(1)} s`;
}
