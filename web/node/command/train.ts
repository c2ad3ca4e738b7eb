// The command `train`: trains small transformers on tasks, with several schemes and several seeds.
import { load, type Superpose, type Task, type TaskTrainerOptions } from 'add-or-concatenate';
import { unknownName } from '../../../build/package/unknownName.js';
import { type TrainingRun, trainingRun } from '../../figures/runs/trainingRun.js';
import { isWay, wayIn, wayNames } from '../../figures/runs/ways.js';
import { csvOf } from '../../plot/csv.js';
import { latest } from '../../plot/plainCopy.js';
import { checkWritable, write } from './files.js';
import { integerOf, isNumber, parseOptions, quote, Refusal, settingsOf } from './options.js';
import { progress } from './terminal.js';

export async function train(args: string[]): Promise<string> {
  const { values } = parseOptions({
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
  const seeds = integerOf('--seeds', values.seeds, 1, 1000);
  const steps = integerOf('--steps', values.steps, 1, 100_000);
  const settings = Object.fromEntries(settingsOf(values.set).map(settingOf));
  const wayOptions = (scheme: string) => {
    const name = scheme.trim();
    if (!isWay(name)) throw new Refusal(unknownName('scheme', name, wayNames));
    return wayIn(name).options((settings.d_model as number | undefined) ?? 32);
  };
  const cells = task
    .split(',')
    .flatMap((name) =>
      values.schemes
        .split(',')
        .map(
          (scheme) => [scheme, { ...settings, ...wayOptions(scheme), task: name as Task, steps }] as const,
        ),
    );
  if (out !== undefined && !out.endsWith('.safetensors'))
    throw new Refusal(`--out takes the name of a .safetensors file, and got ${quote(out)}.`);
  if (out !== undefined && (cells.length > 1 || seeds > 1))
    throw new Refusal('--out keeps one model: give one task, one scheme and one seed.');
  const superpose = await load();
  // A wrong option is reported before the first run, not when its turn comes.
  for (const [, options] of cells) refuseErrors(() => superpose.trainer(options)).delete();
  // So is a path where the model cannot be saved.
  if (out !== undefined) await checkWritable(out);
  const runs = cells.flatMap(([, options]) =>
    Array.from({ length: seeds }, (_, seed) => ({ ...options, seed: seed + 1 })),
  );
  const done: TrainingRun[] = [];
  const report = () => {
    const [scheme, { task: taskName }] = cells[Math.floor(done.length / seeds)] ?? ['', { task: '' }];
    const last = done.at(-1);
    const so = last ? `; the last one had ${latest(last.right).toFixed(3)}` : '';
    progress(
      `run ${done.length + 1} of ${runs.length}: ${taskName}, ${scheme}, seed ${(done.length % seeds) + 1}${so}`,
    );
  };
  for (const options of runs) {
    report();
    done.push(await trainingRun(superpose, { options, steps }));
  }
  progress();
  const rows = cells.map(([scheme, options], at) => {
    const runsOfCell = done.slice(at * seeds, (at + 1) * seeds);
    return { task: options.task, scheme, seeds, ...summaryOf(superpose, runsOfCell) };
  });
  const [last] = done;
  if (out !== undefined && last) await save(superpose, out, runs[0] as TaskTrainerOptions, last);
  if (json) return `${JSON.stringify({ steps, settings, rows }, null, 1)}\n`;
  const columns = Object.keys(rows[0] as object);
  if (csv) {
    return csvOf({
      columns,
      rows: rows.map((row) => Object.values(row).map((value) => value ?? '')),
    });
  }
  return `Accuracy after ${steps} steps, mean ± standard deviation over ${seeds === 1 ? 'one seed' : `${seeds} seeds`}, and the steps to 99 %, mean of the seeds that came there:\n${print(rows)}`;
}

/** Writes the parameters and the options that they were trained with. */
async function save(
  superpose: Superpose,
  file: string,
  options: TaskTrainerOptions,
  { parameters }: TrainingRun,
) {
  // A trainer's numbers are floats, whatever array they come in.
  const floats = Object.entries(parameters).map(
    ([name, table]) => [name, { ...table, data: Float32Array.from(table.data) }] as const,
  );
  const bytes = superpose.encodeSafetensors(Object.fromEntries(floats), {
    superpose: 'trainer',
    options: JSON.stringify(options),
  });
  await write(file, bytes);
}

function summaryOf(superpose: Superpose, runs: TrainingRun[]) {
  const of = (numbers: number[]) => superpose.summary(Float64Array.from(numbers));
  const orNull = (number: number) => (Number.isNaN(number) ? null : number);
  const accuracy = of(runs.map((run) => latest(run.right)));
  const reached = runs.flatMap(({ stepsToAim }) => stepsToAim ?? []);
  return {
    accuracy: accuracy.mean,
    standardDeviation: orNull(accuracy.standardDeviation),
    reached: reached.length,
    stepsTo99: orNull(of(reached).mean),
    diverged: runs.filter((run) => run.diverged).length,
  };
}

type Row = { task: string; scheme: string; seeds: number } & ReturnType<typeof summaryOf>;

function print(rows: Row[]): string {
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

/** The options of a trainer that --set takes. */
const settable: readonly string[] = [
  'n',
  'sequences',
  'evaluationSequences',
  'd_model',
  'heads',
  'layers',
  'positions',
  'layerNorm',
  'causal',
  'fixedTokens',
  'fixedPositions',
  'sigma',
  'sigmaTokens',
  'sigmaPositions',
  'scaleTokens',
  'learningRate',
  'weightDecay',
  'warmUp',
  'schedule',
] satisfies (keyof TaskTrainerOptions)[];

function settingOf([key, value]: [string, string]): [string, number | boolean | string] {
  if (!settable.includes(key)) throw new Refusal(unknownName('option', key, settable));
  if (value === 'true' || value === 'false') return [key, value === 'true'];
  if (isNumber(value)) return [key, Number(value)];
  // The trainer says which there are.
  if (key === 'schedule') return [key, value];
  throw new Refusal(`--set ${key}= takes a number, true or false, and got ${quote(value)}.`);
}

function refuseErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw new Refusal(error.message);
    throw error;
  }
}
