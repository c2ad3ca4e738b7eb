// The command `train`: trains small transformers on tasks, with several schemes and several seeds.
import { load, type Superpose, type Task, type TaskTrainerOptions } from 'add-or-concatenate';
import { counted } from '../../../build/package/check.js';
import { unknownName } from '../../../build/package/unknownName.js';
import { type TrainingRun, trainingRun } from '../../figures/runs/trainingRun.js';
import { isWay, wayIn, wayNames } from '../../figures/runs/ways.js';
import { csvOf } from '../../plot/csv.js';
import { latest } from '../../plot/plainCopy.js';
import { checkWritable, write } from './files.js';
import { Interrupted, interruption, turn } from './interrupted.js';
import { integerOf, isNumber, parseOptions, quote, Refusal, settingsOf } from './options.js';
import { deliver, type Output, outputOf, tableOptions } from './output.js';
import { progress, tenthsOf } from './terminal.js';

/** One task and scheme, trained in runs that differ by their seeds. */
interface Cell {
  scheme: string;
  options: TaskTrainerOptions;
}

/** A cell with its runs, as far as they are finished. */
type FinishedCell = Cell & { runs: TrainingRun[] };

export async function train(args: string[]): Promise<string> {
  const { values } = parseOptions({
    args,
    options: {
      task: { type: 'string' },
      schemes: { type: 'string', default: 'add' },
      seeds: { type: 'string', default: '1' },
      steps: { type: 'string', default: '200' },
      set: { type: 'string', multiple: true, default: [] },
      ...tableOptions,
    },
  });
  const { task, out } = values;
  if (!task?.trim()) throw new Refusal('Say what to learn: --task lookup, or several, --task badge,lookup.');
  const seeds = integerOf('--seeds', values.seeds, 1, 1000);
  const steps = integerOf('--steps', values.steps, 1, 100_000);
  const settings = Object.fromEntries(settingsOf(values.set).map(settingOf));
  const cells = cellsOf(task, values.schemes, { ...settings, steps });
  const keepsModel = out?.endsWith('.safetensors') ?? false;
  if (keepsModel && (cells.length > 1 || seeds > 1))
    throw new Refusal('--out keeps one model: give one task, one scheme and one seed.');
  if (out !== undefined && !/^-$|\.(csv|json|safetensors)$/.test(out))
    throw new Refusal(
      `--out takes a .csv or .json file for the table or a .safetensors file for the model, and got ${quote(out)}.`,
    );
  const superpose = await load();
  // A wrong option is reported before the first run, not when its turn comes.
  for (const { options } of cells) refuseErrors(() => superpose.trainer(options)).delete();
  // So is a path that cannot be written.
  const output = await outputOf(keepsModel ? { ...values, out: undefined } : values, ['csv', 'json']);
  if (keepsModel) await checkWritable(out as string);

  const { finished, interrupted } = await runsOf(superpose, cells, { seeds, steps });
  const rows = finished.flatMap(({ options, scheme, runs }) =>
    runs.length > 0
      ? [{ task: options.task, scheme, seeds: runs.length, ...summaryOf(superpose, runs) }]
      : [],
  );
  const missing = finished.flatMap(({ options, scheme, runs }) => {
    const left = Array.from({ length: seeds - runs.length }, (_, at) => runs.length + 1 + at);
    return left.length > 0 ? [{ task: options.task, scheme, seeds: left }] : [];
  });
  const [first] = finished;
  const model = first?.runs[0];
  if (keepsModel && model) await save(superpose, out as string, { ...first.options, seed: 1 }, model);
  const table = { steps, settings, rows, ...(missing.length > 0 && { missing }) };
  if (rows.length > 0) await deliver(output, [written(table, seeds, output)]);
  if (interrupted) {
    const left = missing.map((cell) => `${cell.task} with ${cell.scheme}, ${seedsIn(cell.seeds)}`);
    const count = finished.reduce((sum, { runs }) => sum + runs.length, 0);
    throw new Interrupted(
      interrupted.exitCode,
      `Interrupted after ${count} of ${cells.length * seeds} runs. Missing: ${left.join('; ')}.`,
    );
  }
  return output.file === undefined ? '' : `${output.file}: ${counted(cells.length * seeds, 'run')}.\n`;
}

const seedsIn = ([first, ...others]: readonly number[]): string =>
  others.length > 0 ? `seeds ${first} to ${others.at(-1)}` : `seed ${first}`;

function cellsOf(
  tasks: string,
  schemes: string,
  settings: Record<string, number | boolean | string>,
): Cell[] {
  const wayOptions = (scheme: string) => {
    const name = scheme.trim();
    if (!isWay(name)) throw new Refusal(unknownName('scheme', name, wayNames));
    return wayIn(name).options((settings.d_model as number | undefined) ?? 32);
  };
  return tasks
    .split(',')
    .flatMap((task) =>
      schemes
        .split(',')
        .map((scheme) => ({ scheme, options: { ...settings, ...wayOptions(scheme), task: task as Task } })),
    );
}

/** Trains every run, or as many as are finished when a signal comes. */
async function runsOf(
  superpose: Superpose,
  cells: readonly Cell[],
  { seeds, steps }: { seeds: number; steps: number },
): Promise<{ finished: FinishedCell[]; interrupted?: Interrupted }> {
  const finished = cells.map((cell): FinishedCell => ({ ...cell, runs: [] }));
  const count = cells.length * seeds;
  const tenth = tenthsOf(count);
  const signal = interruption();
  let done = 0;
  let last = '';
  try {
    for (const { scheme, options, runs } of finished) {
      for (let seed = 1; seed <= seeds; seed++) {
        const name = `${options.task}, ${scheme}, seed ${seed}`;
        progress(`run ${done + 1} of ${count}: ${name}${last}`);
        // A signal is heeded after every step, since a step of a large model takes long.
        const run = await trainingRun(
          superpose,
          { options: { ...options, seed }, steps },
          () => turn(signal),
          1,
        );
        runs.push(run);
        done += 1;
        const accuracy = latest(run.right).toFixed(3);
        last = `; the last one had accuracy ${accuracy}`;
        tenth(done, `${done} of ${count} runs; the last, ${name}, had accuracy ${accuracy}.`);
      }
    }
    return { finished };
  } catch (error) {
    if (error instanceof Interrupted) return { finished, interrupted: error };
    throw error;
  } finally {
    progress();
  }
}

interface TrainTable {
  steps: number;
  settings: object;
  rows: Row[];
  /** The runs that an interruption left out. */
  missing?: { task: string; scheme: string; seeds: number[] }[];
}

function written(table: TrainTable, seeds: number, { format }: Output): string {
  const { steps, rows, missing } = table;
  if (format === 'json') return `${JSON.stringify(table, null, 1)}\n`;
  if (format === 'csv') {
    const cells = rows.map(({ accuracies, ...row }) => ({ ...row, accuracies: accuracies.join(' ') }));
    return csvOf({
      columns: Object.keys(cells[0] as object),
      rows: cells.map((row) => Object.values(row).map((value) => value ?? '')),
    });
  }
  const over = missing ? 'the seeds that are finished' : seeds === 1 ? 'one seed' : `${seeds} seeds`;
  return `Accuracy after ${steps} steps, mean ± standard deviation over ${over}, and the steps to 99 %, mean of the seeds that came there:\n${print(rows)}`;
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
  const accuracies = runs.map((run) => latest(run.right));
  const accuracy = of(accuracies);
  const reached = runs.flatMap(({ stepsToAim }) => stepsToAim ?? []);
  return {
    accuracy: accuracy.mean,
    standardDeviation: orNull(accuracy.standardDeviation),
    reached: reached.length,
    stepsTo99: orNull(of(reached).mean),
    diverged: runs.filter((run) => run.diverged).length,
    /** By seed, from 1 up. */
    accuracies,
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
  // The trainer refuses an unknown schedule, and says which schedules there are.
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
