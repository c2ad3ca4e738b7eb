// Tables of trained models: many small runs fill their cells, one after the other. Finished runs are kept.
import type { SmallSuperpose, Summary } from 'superpose';
import type { Job, Library } from './figure.js';
import { type CellRun, keyOf, learnedNumbers, recordOf } from './record.js';
import { divergedRemark, mayTrain } from './tasks.js';
import { breath, type CellJob, trainingRun, turn } from './training.js';

const most = 4000;

type Known = Map<string, CellRun>;

/** Finished runs of all tables. */
const knownRuns = ({ memoize }: Library): Known => memoize('cells', '', () => new Map());

function keep(known: Known, key: string, run: CellRun): void {
  known.set(key, run);
  const [oldest] = known.keys();
  if (known.size > most && oldest !== undefined) known.delete(oldest);
}

/** Recorded runs are known like those that were trained here, also after a run that did not come to its end. */
async function openWith(library: Library, known: Known): Promise<void> {
  const { runs } = await recordOf(library);
  for (const [key, run] of runs) if (!((known.get(key)?.steps ?? 0) >= run.steps)) keep(known, key, run);
}

/**
 * One run for each that is asked for, in that order; undefined for those that nobody has trained, where that takes
 * long and was not asked for. `show` gets the runs that are there: at the start, and whenever one more is trained here.
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
  const isKnown = ([key, { steps }]: [string, CellJob]) => (known.get(key)?.steps ?? 0) >= steps;
  const isThere = (one: [string, CellJob]) => !job.live?.again && isKnown(one);
  const lacking = [...asked].flatMap((one) => (isThere(one) || !mayTrain(job, one[1].steps) ? [] : [one[0]]));
  // A copy: while new runs come in, they may push out older ones.
  const found = new Map([...asked].filter(isKnown).map(([key]) => [key, known.get(key) as CellRun]));
  const frame = () => job.live?.frame(show(keys.map((key) => found.get(key))));
  frame();
  for (const [done, key] of lacking.entries()) {
    // Between two runs the reader's orders are heard.
    await turn(job);
    const cell = asked.get(key) as CellJob;
    const { parameters, ...trained } = await trainingRun(await library.superpose(), cell, () => breath(job));
    const run = { ...trained, numbers: learnedNumbers(parameters, cell.options) };
    found.set(key, job.live?.again ? { ...run, anew: true } : run);
    keep(known, key, run);
    job.progress((done + 1) / lacking.length);
    frame();
  }
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

/** Said while some of the runs are still those that were there before these were asked for. */
export function partlyAnew(runs: readonly (CellRun | undefined)[], where = ''): string {
  const anew = runs.filter((run) => run?.anew).length;
  if (anew === 0 || anew === runs.length) return '';
  return `${anew} of ${runs.length} runs done anew${where}; the others are from before.`;
}

/** What a reader should know of these runs. */
export const remarkOf = (faults: readonly string[], runs: readonly (CellRun | undefined)[]): string =>
  [...faults, ...(runs.some((run) => run?.diverged) ? [divergedRemark] : [])].join(' ');
