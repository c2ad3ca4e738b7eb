// Tables of trained models: many small runs fill their cells. Runs are spread over workers where there can be
// more than one, and finished runs are kept.
import type { SmallSuperpose, Summary, Superpose, TaskTrainerOptions } from 'superpose';
import { inPool, nestedWorker, type PoolWorker, roomForWorkers } from '../worker/workerPool.js';
import type { State } from './controls.js';
import type { Compute, Job, Library } from './figure.js';
import { type Measurements, type TrainingRun, trainingRun } from './trainingRun.js';
import { breath, turn } from './turn.js';

export interface CellRun extends Omit<TrainingRun, 'parameters'> {
  /** How many numbers the model learns. */
  numbers: number;
}

export interface CellJob {
  options: TaskTrainerOptions;
  looks?: Measurements;
}

/** The name of the question that nested workers are asked. */
export const cellRun = 'cell-run';

const most = 4000;
/** One more worker is worth starting for this many runs. */
const worthAWorker = 4;

type Known = Map<string, CellRun>;

/** Finished runs of all tables. */
const knownRuns = ({ kept }: Library): Known => kept('cells', '', () => new Map());

function keep(known: Known, key: string, run: CellRun): void {
  known.set(key, run);
  const [oldest] = known.keys();
  if (known.size > most && oldest !== undefined) known.delete(oldest);
}

async function trainedCell(superpose: Superpose, { options, looks }: CellJob, job: Job): Promise<CellRun> {
  const { parameters, ...run } = await trainingRun(superpose, options, looks, () => breath(job));
  return { ...run, numbers: learnedNumbers(parameters, options) };
}

/** Tables that are not learned are not counted. */
function learnedNumbers(parameters: TrainingRun['parameters'], { table }: TaskTrainerOptions): number {
  const fixed = table === 'frozen' ? ['E', 'P'] : table === 'sinusoid' ? ['P'] : [];
  return Object.entries(parameters)
    .filter(([name]) => !fixed.includes(name))
    .reduce((sum, [, { rows, columns }]) => sum + rows * columns, 0);
}

/** What a nested worker computes. */
// biome-ignore lint/suspicious/noExplicitAny: what is asked is no state of controls
export const computeCell: Compute<any, CellRun> = async (library, asked, job) =>
  trainedCell(await library.superpose(), asked as unknown as CellJob, job);

/** What a figure opens with: runs recorded beforehand, under this name, of what is asked for. */
export interface Opening {
  name: string;
  asked: readonly CellJob[];
}

/** Recorded runs are known like those that were trained here, also after a run that did not come to its end. */
async function openWith(library: Library, known: Known, { name, asked }: Opening): Promise<void> {
  const runs = (await library.recorded?.(name)) as CellRun[] | undefined;
  runs?.forEach((run, k) => {
    const key = JSON.stringify(asked[k]);
    if (!known.has(key)) keep(known, key, run);
  });
}

/**
 * One run for each that is asked for, in that order. `show` gets the runs that are done, undefined for the
 * others: at the start, and whenever one more is done.
 */
export async function trainedCells(
  library: Library,
  all: readonly CellJob[],
  job: Job,
  show: (runs: readonly (CellRun | undefined)[]) => unknown,
  opening?: Opening,
): Promise<CellRun[]> {
  const known = knownRuns(library);
  const keys = all.map((asked) => JSON.stringify(asked));
  if (opening && keys.some((key) => !known.has(key))) await openWith(library, known, opening);
  if (job.run?.again) for (const key of keys) known.delete(key);
  const lacking = [...new Set(keys)].filter((key) => !known.has(key));
  // A copy: while new runs come in, they may push out older ones.
  const found = new Map(keys.flatMap((key) => (known.has(key) ? [[key, known.get(key) as CellRun]] : [])));
  const kept = found.size;
  const frame = () => job.run?.frame(show(keys.map((key) => found.get(key))));
  const noted = (key: string, run: CellRun) => {
    job.signal.throwIfAborted();
    found.set(key, run);
    keep(known, key, run);
    job.progress((found.size - kept) / lacking.length);
    frame();
  };

  // A worker asks for a turn when it is free. Turns come one at a time, and each hears the reader's orders.
  let before: Promise<unknown> = Promise.resolve();
  const mayGo = () => {
    before = before.then(() => turn(job));
    return before;
  };
  const here = async (key: string) => trainedCell(await library.superpose(), JSON.parse(key), job);
  const doerOf = (work: (key: string) => Promise<CellRun>, close = () => {}): PoolWorker<string, void> => ({
    async work(key) {
      await mayGo();
      noted(key, await work(key));
    },
    close,
  });
  let started = 0;
  const start = () => {
    started += 1;
    if (started === 1 || library.address === undefined) return doerOf(here);
    const other = nestedWorker<CellRun>(library.address, cellRun);
    let works = true;
    return doerOf(async (key) => {
      if (works) {
        try {
          return await other.work(JSON.parse(key) as State);
        } catch {
          // If the run itself is at fault, it fails here too.
          works = false;
        }
      }
      return here(key);
    }, other.close);
  };
  frame();
  const workers =
    library.address === undefined ? 1 : Math.min(roomForWorkers(), Math.ceil(lacking.length / worthAWorker));
  const done = inPool(lacking, start, { workers, signal: job.signal });
  for await (const _ of done);
  return keys.map((key) => found.get(key) as CellRun);
}

/** A summary over the runs that are done and have the number. */
export interface Over extends Summary {
  count: number;
}

export function over(
  superpose: Pick<SmallSuperpose, 'summary'>,
  runs: readonly (CellRun | undefined)[],
  of: (run: CellRun) => number | null | undefined,
): Over | undefined {
  const values = runs.flatMap((run) => (run && of(run)) ?? []);
  return values.length > 0
    ? { ...superpose.summary(Float64Array.from(values)), count: values.length }
    : undefined;
}

export const seedsOf = (seeds: number): string => (seeds === 1 ? 'one seed' : `mean of ${seeds} seeds`);
