// The small models of the figure “Added or concatenated?”: how each is made and trained, and what is kept of its steps.
import type { Superpose, Table, TaskTrainerOptions, Trainer } from 'superpose';
import { type Controls, labelled, type StateOf } from './controls.js';
import type { Compute, Job } from './figure.js';
import outcomes from './recorded/outcomes.json' with { type: 'json' };
import { aim, firstRun, type fourTasks, seedAfter, sigmaControl, steps, taskOptions } from './tasks.js';
import { trainTogether, withTrainers } from './trainers.js';
import { wayIn } from './waysIn.js';

/** Steps from one measure of what is right to the next. */
export const stride = 5;
/** Steps at which the models are looked into: most change early. */
export const looks = Array.from({ length: steps / stride + 1 }, (_, point) => point * stride).filter(
  (step) => step <= 100 || step % 20 === 0,
);
export const seeds = 5;
/** Of the tokens and, where positions are added, of the sum. */
export const d_model = 16;

/** How each model gets its positions. */
export const names = ['add', 'concat-wide', 'concat', 'apart', 'wider', 'zero'] as const;
export type ModelName = (typeof names)[number];
/** Models that the picture looks into. */
export type ShownName = 'add' | 'concat-wide' | 'concat' | 'apart';
const isShown = (name: ModelName): name is ShownName => name !== 'wider' && name !== 'zero';

export type TaskName = (typeof fourTasks)[number]['task'];

/** The first view, apart from the settings: what computes carries no labels. */
const first = { n: 10, sigma: firstRun.sigma, seed: 1 } as const;

export const trainedControls = {
  task: {
    kind: 'choice',
    label: 'Task (✓: the test learns it)',
    options: labelled<TaskName>(
      ['lookup', 'roll', 'badge', 'prev'],
      (task) => `${taskOptions[task]} ${outcomes[task].apart >= aim ? '✓' : '✗'}`,
    ),
    initial: 'lookup',
    radio: true,
  },
  n: { kind: 'steps', label: 'Tokens in a row', values: [6, 8, 10, 12], initial: first.n, more: true },
  sigma: { ...sigmaControl, more: true },
  seed: { kind: 'seed', label: 'First seed', initial: first.seed, more: true },
} as const satisfies Controls;

/** What the first seed's model does with the row that is shown, look by look. */
export interface ShownRow {
  /** Thousandths: the vectors of the row's first question and of its position. */
  token: number[][];
  position: number[][];
  /** What heads give from `drawn` up: [looks][some], each a head, from which place, to which, and percents. */
  attention: number[][][];
  /** [looks][n] */
  answers: number[][];
}

export interface Model {
  /** Numbers to learn. */
  parameters: number;
  /** Right answers of `questions`, [seeds][points so far]. */
  right: number[][];
  /** Of these, the mean over the seeds, [points so far]. */
  mean: number[];
  /** The mean of the steps at which seeds first had 99 % right, and how many did. */
  first: { mean: number; count: number } | null;
  shown: ShownRow | null;
}

export interface Data {
  /** The row that is shown, and what is right; −1 asks nothing. */
  tokens: number[];
  targets: number[];
  /** How many answers each accuracy is of. */
  questions: number;
  diverged: boolean;
  models: Record<ModelName, Model>;
}

/** Seeds of rows of which the recorded models get about as many right as of all. */
const rowSeeds: Record<TaskName, number> = { lookup: 328, roll: 9, badge: 127, prev: 328 };
/** In percent: the least of a head's attention that has an arc. */
export const drawn = 30;

type Trained = StateOf<typeof trainedControls>;

const isRecorded = ({ n, sigma, seed }: Trained): boolean =>
  n === first.n && sigma === first.sigma && seed === first.seed;

export const compute: Compute<typeof trainedControls, Data> = async (library, state, job) => {
  const { task, n, sigma, seed } = state;
  if (!job.run?.again && isRecorded(state)) {
    const known = await library.recorded?.(task);
    if (known) return known as Data;
  }
  const again = job.run?.again;
  return library.kept(
    'add-or-concatenate',
    [task, n, sigma, seed],
    async () => train(await library.superpose(), state, job),
    again,
  );
};

const optionsOf = (name: ModelName, { task, n, sigma }: Trained, seed: number): TaskTrainerOptions => ({
  d_model,
  ...wayIn(name).options(d_model),
  task,
  n,
  sigma,
  seed,
  steps,
});

/** Trains every model with every seed. */
async function train(superpose: Superpose, state: Trained, job: Job): Promise<Data> {
  const { task, n } = state;
  const row = superpose.taskExamples({ task, n, seed: rowSeeds[task] });
  const tokens = Array.from(row.tokens);
  const targets = Array.from(row.targets);
  const all = names.flatMap((name) =>
    Array.from({ length: seeds }, (_, k) => optionsOf(name, state, seedAfter(state.seed, k))),
  );
  return withTrainers(superpose, all, async (trainers) => {
    const own = (name: ModelName) => {
      const at = names.indexOf(name) * seeds;
      return trainers.slice(at, at + seeds);
    };
    const [any] = trainers as [Trainer];
    const questions = any.evaluate().targets;
    const models = Object.fromEntries(
      names.map((name): [ModelName, Model] => {
        const of = Object.values((own(name)[0] as Trainer).parameters());
        return [
          name,
          {
            parameters: of.reduce((sum, { rows, columns }) => sum + rows * columns, 0),
            right: own(name).map(() => []),
            mean: [],
            first: null,
            shown: isShown(name) ? { token: [], position: [], attention: [], answers: [] } : null,
          },
        ];
      }),
    ) as Record<ModelName, Model>;
    const data: Data = { tokens, targets, questions, diverged: false, models };
    const note = () => {
      data.diverged = trainers.some(({ diverged }) => diverged);
      for (const name of names) {
        const { right, mean, shown } = models[name];
        own(name).forEach((trainer, k) => {
          right[k]?.push(Math.round(trainer.accuracy() * questions));
        });
        const over = (values: number[]) => superpose.summary(Float64Array.from(values)).mean;
        mean.push(over(right.map((of) => of.at(-1) as number)));
        const firsts = right.flatMap((of) => {
          const point = of.findIndex((count) => count >= aim * questions);
          return point < 0 ? [] : [point * stride];
        });
        models[name].first = firsts.length > 0 ? { mean: over(firsts), count: firsts.length } : null;
        if (shown && looks.includes((mean.length - 1) * stride))
          look(own(name)[0] as Trainer, shown, tokens, targets);
      }
    };
    note();
    const show = () => job.run?.frame(data);
    show();
    await trainTogether(
      trainers,
      job,
      {
        looked(part) {
          note();
          job.progress(part);
        },
        show,
      },
      stride,
    );
    return data;
  });
}

/** The first place of a row that asks something. */
export const firstAsking = (targets: readonly number[]): number => targets.findIndex((target) => target >= 0);

const rounded = (values: Iterable<number>, unit: number): number[] =>
  Array.from(values, (value) => Math.round(value * unit) + 0);

function look(trainer: Trainer, shown: ShownRow, tokens: number[], targets: number[]): void {
  const n = tokens.length;
  const place = firstAsking(targets);
  const { E, P } = trainer.parameters() as { E: Table; P: Table };
  const rowOf = ({ data, columns }: Table, at: number) => data.slice(at * columns, (at + 1) * columns);
  shown.token.push(rounded(rowOf(E, tokens[place] as number), 1000));
  shown.position.push(rounded(rowOf(P, place), 1000));
  const attention = rounded(trainer.attention({ n, tokens }).data, 100);
  shown.attention.push(
    attention.flatMap((percents, at) =>
      percents >= drawn ? [[Math.floor(at / n ** 2), Math.floor(at / n) % n, at % n, percents]] : [],
    ),
  );
  const logits = trainer.logits({ n, tokens });
  shown.answers.push(
    tokens.map((_, at) => {
      const own = rowOf(logits, at);
      return own.indexOf(Math.max(...own));
    }),
  );
}
