// Tables of trained models: many small runs, several seeds a cell, are trained one after the other and
// memoized.
import type { SmallSuperpose, Summary, Task } from 'add-or-concatenate';
import type { Job, Library } from '../figure.js';
import { type CellRun, keyOf, learnedNumbers, recordedRuns } from './recordedRuns.js';
import { divergedRemark, mayTrain, modelOptions, pageSteps, type Shape, seedAfter } from './tasks.js';
import { nextTurn, type RunRequest, trainingRun, yieldThread } from './trainingRun.js';
import { type WayName, wayIn } from './ways.js';

/** The most runs that are remembered. */
const mostRuns = 4000;

/** A cell: one model on one task, with so many seeds from `seed` on. */
export interface CellRequest {
  task: Task;
  way: WayName;
  shape: Omit<Shape, 'seed'>;
  seed: number;
  seeds: number;
  /** The step at which it is looked at; the page trains it for at most `pageSteps`. */
  steps: number;
}

/** [seeds], undefined for those that nobody has trained yet. */
export type CellRuns = (CellRun | undefined)[];

/** The runs of a cell, seed by seed. */
export function runRequests({ task, way, shape, seed, seeds, steps }: CellRequest): RunRequest[] {
  return Array.from({ length: seeds }, (_, k) => ({
    options: modelOptions(task, way, { ...shape, seed: seedAfter(seed, k) }),
    steps: Math.min(steps, pageSteps),
    ...(wayIn(way).loudness && { loudness: true }),
  }));
}

type RunsByKey = Map<string, CellRun>;

/** Finished runs of all tables. */
const finishedRuns = ({ memoize }: Library): RunsByKey => memoize('cells', '', () => new Map());

function remember(finished: RunsByKey, key: string, run: CellRun): void {
  finished.set(key, run);
  const [oldest] = finished.keys();
  if (finished.size > mostRuns && oldest !== undefined) finished.delete(oldest);
}

/** Adds recorded runs to the finished ones; they also replace runs that were trained for fewer steps here. */
async function addRecorded(library: Library, finished: RunsByKey): Promise<void> {
  const { runs } = await recordedRuns(library);
  for (const [key, run] of runs) {
    if ((finished.get(key)?.steps ?? 0) < run.steps) remember(finished, key, run);
  }
}

/**
 * Returns the runs of each cell, in the order of the requests, and trains those that are missing: long runs
 * only if the reader asked for them, and a run that several cells request only once. `show` is called with
 * the runs so far, at the start and after each run that is trained here.
 */
export async function trainedCells(
  library: Library,
  cells: readonly (readonly RunRequest[])[],
  job: Job,
  show: (cells: CellRuns[]) => unknown,
): Promise<CellRuns[]> {
  const finished = finishedRuns(library);
  await addRecorded(library, finished);
  const requests = new Map(cells.flat().map((request) => [keyOf(request), request]));
  // A copy, because new runs may push older ones out of `finished`.
  const results: RunsByKey = new Map();
  const lacking: string[] = [];
  for (const [key, { steps }] of requests) {
    const run = finished.get(key);
    const isFinished = run !== undefined && run.steps >= steps;
    if (isFinished) results.set(key, run);
    if ((!isFinished || job.live?.again) && mayTrain(job, steps)) lacking.push(key);
  }
  const inCells = () => cells.map((cell) => cell.map((request) => results.get(keyOf(request))));
  const showFrame = () => {
    if (job.live) job.live.frame(show(inCells()));
  };
  showFrame();
  for (const [done, key] of lacking.entries()) {
    // Between two runs the reader's orders are heard.
    await nextTurn(job);
    const request = requests.get(key) as RunRequest;
    const trained = await trainingRun(await library.superpose(), request, () => yieldThread(job));
    const { parameters, ...result } = trained;
    const run = { ...result, numbers: learnedNumbers(parameters, request.options) };
    results.set(key, job.live?.again ? { ...run, anew: true } : run);
    remember(finished, key, run);
    job.progress((done + 1) / lacking.length);
    showFrame();
  }
  return inCells();
}

/** A summary of a number over the runs that have it, and how many runs those are. */
export interface CountedSummary extends Summary {
  count: number;
}

/** The summary over the runs that are done and have the number; undefined if there is none. */
export function summaryOver(
  superpose: Pick<SmallSuperpose, 'summary'>,
  runs: CellRuns,
  numberOf: (run: CellRun) => number | null | undefined,
): CountedSummary | undefined {
  const values = runs.flatMap((run) => (run && numberOf(run)) ?? []);
  return values.length > 0
    ? { ...superpose.summary(Float64Array.from(values)), count: values.length }
    : undefined;
}

export const seedsOf = (seeds: number): string => (seeds === 1 ? 'one seed' : `mean of ${seeds} seeds`);

/** A sentence for the time when only some of the runs have been done anew; empty before and afterwards. */
export function partlyAnew(runs: CellRuns, where = ''): string {
  const anew = runs.filter((run) => run?.anew).length;
  if (anew === 0 || anew === runs.length) return '';
  return `${anew} of ${runs.length} runs done anew${where}; the others are from before.`;
}

/** What a reader should know about these runs, in sentences. */
export const remarkOf = (faults: readonly string[], runs: CellRuns): string =>
  [...faults, ...(runs.some((run) => run?.diverged) ? [divergedRemark] : [])].join(' ');
