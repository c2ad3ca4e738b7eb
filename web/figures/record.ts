// Runs that tools/record-runs.mjs trained beforehand: the file's form, checked when it is read.
import type { Table, Task, TaskTrainerOptions } from 'superpose';
import type { Library } from './figure.js';
import { modelOptions, type Shape, seedAfter } from './tasks.js';
import { type CellJob, keptTo, lengths, type TrainingRun } from './training.js';
import { isWay } from './waysIn.js';

export const recordVersion = 1;

export interface CellRun extends Omit<TrainingRun, 'parameters'> {
  /** How many numbers the model learns. */
  numbers: number;
  /** It was trained for the question that it answers, which asked for new runs. */
  anew?: true;
}

/** All seeds of one model on one task, from seed 1 on. */
interface RecordedCell {
  numbers: number;
  /** Right answers are counted of so many, so that files hold whole numbers. */
  questions: number;
  first: (number | null)[];
  /** [seeds][keptTo(steps).length] */
  right: number[][];
  loudness?: [number, number][];
  diverged?: true;
}

/** What its models have in common, and by way in and task what came of them. */
interface RecordedGroup {
  shape: Omit<Shape, 'seed'>;
  runs: Record<string, Record<string, RecordedCell>>;
}

export interface RecordFile {
  version: number;
  groups: RecordedGroup[];
}

/** What is found of a run is found by this. */
export const keyOf = ({ options, loudness }: Pick<CellJob, 'options' | 'loudness'>): string =>
  JSON.stringify([options, loudness]);

type FixedTables = Pick<TaskTrainerOptions, 'table' | 'fixedTokens' | 'fixedPositions'>;

/** Tables that are not learned are not counted. */
export function learnedNumbers(parameters: Record<string, Table>, options: FixedTables): number {
  const isFixed = (name: string) =>
    (name === 'E' && options.fixedTokens) ||
    (name === 'P' && (options.fixedPositions || options.table === 'sinusoid'));
  return Object.entries(parameters)
    .filter(([name]) => !isFixed(name))
    .reduce((sum, [, { rows, columns }]) => sum + rows * columns, 0);
}

export interface Recorded {
  /** By keyOf(). */
  runs: Map<string, CellRun>;
  /** What could not be taken, each in a sentence. */
  faults: string[];
}

const stepsOf = (right: readonly number[] | undefined): number | undefined =>
  lengths.find((steps) => keptTo(steps).length === right?.length);

/** The runs of a file; what is wrong with it is named, and the rest is there. */
export function readRecord(file: RecordFile | undefined): Recorded {
  const [runs, faults]: [Recorded['runs'], string[]] = [new Map(), []];
  if (file && file.version !== recordVersion)
    faults.push(
      `The recorded runs are of version ${file.version}, and this page reads version ${recordVersion}.`,
    );
  else
    for (const { shape, runs: byWay } of file?.groups ?? [])
      for (const [way, byTask] of Object.entries(byWay))
        for (const [task, cell] of Object.entries(byTask)) {
          const steps = stepsOf(cell.right[0]);
          if (!isWay(way)) faults.push(`Recorded is “${way}”, a way in that is not known here.`);
          else if (!steps || cell.right.some(({ length }) => length !== cell.right[0]?.length))
            faults.push(`The recorded runs of ${way} on ${task} are of another length.`);
          else
            cell.right.forEach((counts, k) => {
              const loud = cell.loudness?.[k];
              const options = modelOptions(task as Task, way, { ...shape, seed: seedAfter(1, k) });
              runs.set(keyOf({ options, ...(loud && { loudness: true }) }), {
                steps,
                right: counts.map((count) => count / cell.questions),
                stepsToAim: cell.first[k] ?? null,
                diverged: cell.diverged ?? false,
                numbers: cell.numbers,
                ...(loud && { loudness: loud }),
              });
            });
        }
  return { runs, faults };
}

export const recordOf = (library: Library): Promise<Recorded> | Recorded =>
  library.memoize('record', '', async () =>
    readRecord((await library.recorded?.('runs')) as RecordFile | undefined),
  );
