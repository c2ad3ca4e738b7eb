// superpose train: small transformers on a task, under one scheme after another, over seeds.
import { writeFile } from 'node:fs/promises';
import {
  load,
  type Superpose,
  type Table,
  type Task,
  type TaskTrainerOptions,
  type TrainingScheme,
} from 'superpose';
import { csvOf } from '../index.js';
import { parsed, Refusal } from './refusal.js';

/** Accuracy is looked at so often until it is there. */
const every = 5;
const aim = 0.99;

export async function train(args: string[]): Promise<string> {
  const { values } = parsed({
    args,
    options: {
      task: { type: 'string' },
      schemes: { type: 'string', default: 'add' },
      seeds: { type: 'string', default: '1' },
      steps: { type: 'string', default: '200' },
      set: { type: 'string', multiple: true, default: [] },
      out: { type: 'string' },
      csv: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { task, csv, json, out } = values;
  if (!task?.trim()) throw new Refusal('Say what to learn: --task lookup, or several, --task badge,lookup.');
  if (csv && json) throw new Refusal('Choose one of --csv and --json.');
  const seeds = whole('--seeds', values.seeds, 1000);
  const steps = whole('--steps', values.steps, 100_000);
  const settings = Object.fromEntries(values.set.map(settingOf));
  const cells = task
    .split(',')
    .flatMap((one) =>
      values.schemes
        .split(',')
        .map((scheme) => [scheme, { ...settings, ...schemeOf(scheme), task: one as Task, steps }] as const),
    );
  if (out !== undefined && !out.endsWith('.safetensors'))
    throw new Refusal(`--out takes the name of a .safetensors file, and got “${out.slice(0, 40)}”.`);
  if (out !== undefined && (cells.length > 1 || seeds > 1))
    throw new Refusal('--out keeps one model: give one task, one scheme and one seed.');
  const superpose = await load();
  // A wrong option is told before the first run, not after the runs that came before it.
  for (const [, options] of cells) refused(() => superpose.trainer(options)).delete();
  const runs: Run[] = [];
  const rows = cells.map(([scheme, options], at) => {
    const first = runs.length;
    for (let seed = 1; seed <= seeds; seed++) {
      progress(`${options.task}, ${scheme}, seed ${seed} of ${seeds}; ${at + 1} of ${cells.length}`);
      runs.push(runOf(superpose, { ...options, seed }));
    }
    return { task: options.task, scheme, seeds, ...together(superpose, runs.slice(first)) };
  });
  progress();
  const [last] = runs;
  if (out !== undefined && last) await keep(superpose, out, last);
  if (json) return `${JSON.stringify({ steps, settings, rows }, null, 1)}\n`;
  const columns = Object.keys(rows[0] as object);
  if (csv) {
    return csvOf({
      columns,
      rows: rows.map((row) => Object.values(row).map((value) => value ?? '')),
    });
  }
  return `Accuracy after ${steps} steps, mean ± standard deviation over ${seeds === 1 ? 'one seed' : `${seeds} seeds`}, and the steps to 99 %, mean of the seeds that came there:\n${printed(rows)}`;
}

/** The parameters, with what they are the parameters of. */
async function keep(superpose: Superpose, file: string, { options, parameters }: Run) {
  const bytes = superpose.encodeSafetensors(parameters, {
    superpose: 'trainer',
    options: JSON.stringify(options),
  });
  try {
    await writeFile(file, bytes);
  } catch (error) {
    throw new Refusal(`${file} could not be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}

interface Run {
  options: TaskTrainerOptions;
  parameters: Record<string, Table>;
  accuracy: number;
  stepsToAim: number | null;
  diverged: boolean;
}

function runOf(superpose: Superpose, options: TaskTrainerOptions): Run {
  const trainer = superpose.trainer(options);
  try {
    let stepsToAim: number | null = null;
    while (trainer.steps < trainer.plannedSteps && !trainer.diverged) {
      const left = trainer.plannedSteps - trainer.steps;
      trainer.step(Math.min(left, stepsToAim === null ? every : 1000));
      if (stepsToAim === null && trainer.accuracy() >= aim) stepsToAim = trainer.steps;
    }
    const { diverged } = trainer;
    return { options, parameters: trainer.parameters(), accuracy: trainer.accuracy(), stepsToAim, diverged };
  } finally {
    trainer.delete();
  }
}

function together(superpose: Superpose, runs: Run[]) {
  const of = (numbers: number[]) => superpose.summary(Float64Array.from(numbers));
  const orNull = (number: number) => (Number.isNaN(number) ? null : number);
  const accuracy = of(runs.map((run) => run.accuracy));
  const reached = runs.flatMap(({ stepsToAim }) => stepsToAim ?? []);
  return {
    accuracy: accuracy.mean,
    standardDeviation: orNull(accuracy.standardDeviation),
    reached: reached.length,
    stepsTo99: orNull(of(reached).mean),
    diverged: runs.filter((run) => run.diverged).length,
  };
}

type Row = { task: string; scheme: string; seeds: number } & ReturnType<typeof together>;

function printed(rows: Row[]): string {
  const lines = rows.map((row) => [
    row.task,
    row.scheme,
    row.accuracy.toFixed(3) +
      (row.standardDeviation === null ? '' : ` ± ${row.standardDeviation.toFixed(3)}`),
    row.stepsTo99 === null ? '–' : row.stepsTo99.toFixed(0),
    `${row.reached} of ${row.seeds}`,
    row.diverged ? `${row.diverged} diverged` : '',
  ]);
  const all = [['task', 'scheme', 'accuracy', 'steps to 99 %', 'seeds there', ''], ...lines];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((line) => (line[column] as string).length)));
  return all
    .map((line) => `${line.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}

/** `concat`, `add:sinusoid`, `concat:8` or `concat:sinusoid:8`, where 8 is d_position; or `floor`. */
function schemeOf(text: string): Partial<TaskTrainerOptions> {
  const [scheme, ...more] = text.trim().split(':');
  if (scheme === 'floor') return { zeroScores: true };
  const chosen: Partial<TaskTrainerOptions> = { scheme: scheme as TrainingScheme };
  for (const one of more) {
    if (/^\d+$/.test(one)) chosen.d_position = Number(one);
    else chosen.table = one as 'learned' | 'sinusoid' | 'frozen';
  }
  return chosen;
}

function whole(name: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= most) return number;
  throw new Refusal(`${name} takes a whole number from 1 to ${most}, and got “${text.slice(0, 40)}”.`);
}

/** Options of a trainer that numbers and flags can set. */
const settable = [
  ...['n', 'symbols', 'back', 'sequences', 'evaluationSequences', 'd_model', 'heads', 'layers', 'positions'],
  ...['layerNorm', 'mlp', 'causal', 'fixedTokens', 'fixedPositions', 'sigma', 'learningRate', 'weightDecay'],
  ...['warmUp', 'beta1', 'beta2', 'epsilon', 'clip'],
];

function settingOf(text: string): [string, number | boolean] {
  const at = text.indexOf('=');
  if (at < 1) throw new Refusal(`--set takes KEY=VALUE, and got “${text.slice(0, 40)}”.`);
  const [key, value] = [text.slice(0, at), text.slice(at + 1)];
  if (!settable.includes(key))
    throw new Refusal(`There is no setting called “${key.slice(0, 40)}”. There are ${settable.join(', ')}.`);
  if (value === 'true' || value === 'false') return [key, value === 'true'];
  if (value.trim() === '') throw new Refusal(`--set ${key}= takes a number, true or false.`);
  return [key, Number(value)];
}

function refused<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw new Refusal(error.message);
    throw error;
  }
}

/** One line that is written over; elsewhere than on a terminal, nothing. */
function progress(line = '') {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
}
