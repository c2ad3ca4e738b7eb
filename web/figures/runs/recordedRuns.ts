// Runs that tools/record-runs.mjs trained beforehand: the form of their file, which is checked when it is
// read.
import type { Table, Task, TaskTrainerOptions } from 'add-or-concatenate';
import type { Library } from '../figure.js';
import { modelOptions, type Shape, seedAfter } from './tasks.js';
import { checkpointsTo, lengths, type RunRequest, type TrainingRun } from './trainingRun.js';
import { isWay } from './ways.js';

export const recordVersion = 1;

export interface CellRun extends Omit<TrainingRun, 'parameters'> {
  /** How many numbers the model learns. */
  numbers: number;
  /** Set if the run was trained for the current question, which asked for new runs. */
  anew?: true;
}

/** All seeds of one model on one task, from seed 1 on. */
interface RecordedCell {
  numbers: number;
  /**
   * How many questions each count of right answers is out of. Files hold counts, because these are whole
   * numbers.
   */
  questions: number;
  /** [seeds], steps until accuracy was first 99 %. */
  first: (number | null)[];
  /** [seeds][checkpointsTo(steps).length] */
  right: number[][];
  loudness?: [number, number][];
  diverged?: true;
}

/** The shape that models have in common, and the result of each by way in and task. */
interface RecordedGroup {
  shape: Omit<Shape, 'seed'>;
  runs: Record<string, Record<string, RecordedCell>>;
}

export interface RecordFile {
  version: number;
  groups: RecordedGroup[];
}

/** Identifies a run: equal keys have equal results. */
export const keyOf = ({ options, loudness }: Pick<RunRequest, 'options' | 'loudness'>): string =>
  JSON.stringify([options, loudness]);

type FixedTables = Pick<TaskTrainerOptions, 'table' | 'fixedTokens' | 'fixedPositions'>;

/** How many numbers are learned; tables that stay as drawn are not counted. */
export function learnedNumbers(parameters: Record<string, Table>, options: FixedTables): number {
  const isFixed = (name: string) =>
    (name === 'E' && options.fixedTokens) ||
    (name === 'P' && (options.fixedPositions || options.table === 'sinusoid'));
  return Object.entries(parameters)
    .filter(([name]) => !isFixed(name))
    .reduce((sum, [, { rows, columns }]) => sum + rows * columns, 0);
}

export interface RecordedRuns {
  /** By keyOf(). */
  runs: Map<string, CellRun>;
  /** What could not be read, each in a sentence. */
  faults: string[];
}

/** The runs of a file. Whatever is wrong with the file is listed in `faults`, and the rest is read. */
export function readRecord(file: RecordFile | undefined): RecordedRuns {
  const record: RecordedRuns = { runs: new Map(), faults: [] };
  if (file && file.version !== recordVersion) {
    record.faults.push(
      `The recorded runs are of version ${file.version}, and this page reads version ${recordVersion}.`,
    );
    return record;
  }
  for (const { shape, runs: byWay } of file?.groups ?? []) {
    for (const [way, byTask] of Object.entries(byWay)) {
      for (const [task, cell] of Object.entries(byTask)) readCell(record, shape, way, task, cell);
    }
  }
  return record;
}

function readCell(
  { runs, faults }: RecordedRuns,
  shape: RecordedGroup['shape'],
  way: string,
  task: string,
  cell: RecordedCell,
): void {
  const count = cell.right[0]?.length;
  const steps = lengths.find((length) => checkpointsTo(length).length === count);
  if (!isWay(way)) {
    faults.push(`The recorded way in “${way}” is not known here.`);
    return;
  }
  if (!steps || cell.right.some(({ length }) => length !== count)) {
    faults.push(`The recorded runs of ${way} on ${task} are of another length.`);
    return;
  }
  cell.right.forEach((counts, k) => {
    const loudness = cell.loudness?.[k];
    const options = modelOptions(task as Task, way, { ...shape, seed: seedAfter(1, k) });
    runs.set(keyOf({ options, ...(loudness && { loudness: true }) }), {
      steps,
      right: counts.map((count) => count / cell.questions),
      stepsToAim: cell.first[k] ?? null,
      diverged: cell.diverged ?? false,
      numbers: cell.numbers,
      ...(loudness && { loudness }),
    });
  });
}

export const recordedRuns = (library: Library): Promise<RecordedRuns> | RecordedRuns =>
  library.memoize('record', '', async () =>
    readRecord((await library.recorded?.('runs')) as RecordFile | undefined),
  );
