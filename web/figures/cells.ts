// Tables of trained models: many small runs fill their cells. Runs are spread over workers where there can be
// more than one, and finished runs are kept.
import type { SmallSuperpose, Summary, Superpose } from 'superpose';
import { cellRun } from '../worker/transports.js';
import { inPool, nestedWorker, type PoolWorker, roomForWorkers } from '../worker/workerPool.js';
import type { State } from './controls.js';
import type { Compute, Job, Library } from './figure.js';
import { type CellRun, keyOf, learnedNumbers, recordOf } from './record.js';
import { divergedRemark, mayTrain } from './tasks.js';
import { breath, type CellJob, trainingRun, turn } from './training.js';

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

async function trainedCell(superpose: Superpose, asked: CellJob, job: Job): Promise<CellRun> {
  const { parameters, ...run } = await trainingRun(superpose, asked, () => breath(job));
  return { ...run, numbers: learnedNumbers(parameters, asked.options) };
}

/** What a nested worker computes. */
// biome-ignore lint/suspicious/noExplicitAny: what is asked is no state of controls
export const computeCell: Compute<any, CellRun> = async (library, asked, job) =>
  trainedCell(await library.superpose(), asked as unknown as CellJob, job);

/** Recorded runs are known like those that were trained here, also after a run that did not come to its end. */
async function openWith(library: Library, known: Known): Promise<void> {
  const { runs } = await recordOf(library);
  for (const [key, run] of runs) if (!((known.get(key)?.steps ?? 0) >= run.steps)) keep(known, key, run);
}

/**
 * One run for each that is asked for, in that order; undefined for those that nobody has trained, where that takes
 * long and was not asked for. `show` gets the runs that are done: at the start, and whenever one more is.
 */
export async function trainedCells(
  library: Library,
  all: readonly CellJob[],
  job: Job,
  show: (runs: readonly (CellRun | undefined)[]) => unknown,
): Promise<(CellRun | undefined)[]> {
  const known = knownRuns(library);
  await openWith(library, known);
  const keys = all.map(keyOf);
  const asked = new Map(keys.map((key, k) => [key, all[k] as CellJob]));
  if (job.run?.again) for (const key of keys) known.delete(key);
  const isKnown = ([key, { steps }]: [string, CellJob]) => (known.get(key)?.steps ?? 0) >= steps;
  const lacking = [...asked].flatMap((one) => (isKnown(one) || !mayTrain(job, one[1].steps) ? [] : [one[0]]));
  // A copy: while new runs come in, they may push out older ones.
  const found = new Map([...asked].filter(isKnown).map(([key]) => [key, known.get(key) as CellRun]));
  const noted = (key: string, run: CellRun) => {
    job.signal.throwIfAborted();
    found.set(key, run);
    keep(known, key, run);
    done += 1;
    job.progress(done / lacking.length);
    frame();
  };
  let done = 0;
  const frame = () => job.run?.frame(show(keys.map((key) => found.get(key))));

  // A worker asks for a turn when it is free. Turns come one at a time, and each hears the reader's orders.
  let before: Promise<unknown> = Promise.resolve();
  const mayGo = () => {
    before = before.then(() => turn(job));
    return before;
  };
  const here = async (key: string) => trainedCell(await library.superpose(), asked.get(key) as CellJob, job);
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
          return await other.work(asked.get(key) as unknown as State);
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
  for await (const _ of inPool(lacking, start, { workers, signal: job.signal }));
  return keys.map((key) => found.get(key));
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

/** What a reader should know of these runs. */
export const remarkOf = (faults: readonly string[], runs: readonly (CellRun | undefined)[]): string =>
  [...faults, ...(runs.some((run) => run?.diverged) ? [divergedRemark] : [])].join(' ');
