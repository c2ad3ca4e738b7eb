// The tasks that small models learn, and their examples.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { Ids } from '../table.js';

const taskNames = ['badge', 'lookup', 'roll', 'prev', 'where'] as const;
/**
 * The task that a small model learns on n tokens t₀ to tₙ₋₁. Each is solved by one kind of score. 'badge':
 * n/2 tokens "key k has colour c" and n/2 tokens "key k?", shuffled; the answer to a question is the colour.
 * 'lookup': the token at place tᵢ. 'roll': letters in colours, each once; the answer at place i is the
 * colour of letter i. 'prev': tᵢ₋₁. 'where': n/2 items, once each, and n/2 questions "item k?", shuffled;
 * the answer to a question is the item’s place.
 */
export type Task = (typeof taskNames)[number];

export interface TaskOptions {
  /** The task. */
  task: Task;
  /** The number of tokens of a sequence, from 1 up; even for 'badge' and 'where'. Default 16. */
  n?: number;
}

/** Sequences of n tokens, one after another. */
export interface TrainingBatch {
  /** The number of tokens of a sequence, from 1 up. */
  n: number;
  /** [sequences, n], ids below the vocabulary. */
  tokens: Ids;
  /** [sequences, n], classes, or −1 for no target. */
  targets: Ids;
}

/** A batch of a task, and the ranges of its ids. */
export interface TaskBatch extends TrainingBatch {
  /** [sequences, n] */
  readonly tokens: Int32Array;
  /** [sequences, n], −1 for no target. */
  readonly targets: Int32Array;
  /** The number of token ids; tokens are below it. */
  readonly vocabulary: number;
  /** The number of classes; targets are below it. */
  readonly classes: number;
}

export interface TaskExamplesOptions extends TaskOptions {
  /** The number of sequences, from 1 to 65536. Default 1. */
  sequences?: number;
  /**
   * The seed. Equal seeds give equal examples, and a trainer of the same seed is evaluated on the same
   * examples. Default 1.
   */
  seed?: number;
}

/** @category Train a model */
interface TasksApi {
  /** Draws examples of a task, such as those that a trainer is trained on. Throws RangeError or TypeError. */
  taskExamples(options: TaskExamplesOptions): TaskBatch;
  /**
   * Returns a task's answers to your own tokens, in complete sequences. Where a badge, letter or item occurs
   * twice, the last one counts; where it is missing, there is no target. Throws RangeError or TypeError.
   */
  taskTargets(options: TaskOptions & { tokens: Ids }): TaskBatch;
}

export const taskOptionNames: check.OptionNames<TaskOptions> = { task: true, n: true };
/** The members of a result of taskExamples(), which is a batch too. */
export const batchNames: check.OptionNames<TaskBatch> = {
  n: true,
  tokens: true,
  targets: true,
  vocabulary: true,
  classes: true,
};

/** Checks a task, adds its sizes, and returns it as the binding takes it. */
export function checkedTask(raw: RawModule, options: TaskOptions) {
  const { task: name, n = 16 } = options;
  const task = check.oneOf('task', name, taskNames);
  check.integer('n', n, 1);
  if ((name === 'badge' || name === 'where') && n % 2 !== 0)
    throw new RangeError(`n must be even for '${name}'; it is ${n}.`);
  const known = { task, n };
  return { ...known, ...raw.taskSizes(known) };
}

/** Checks complete sequences of token ids below `vocabulary`. */
export function checkedTokens(name: string, value: unknown, n: number, vocabulary: number): Int32Array {
  const tokens = check.ids(name, value, 0, vocabulary - 1);
  if (tokens.length === 0 || tokens.length % n !== 0)
    check.refuseCount(name, `a multiple of ${n} ids, in complete sequences of n`, tokens.length);
  return tokens;
}

type CheckedBatch = Pick<TaskBatch, 'n' | 'tokens' | 'targets'>;

/** Checks a batch against the sizes of a model. */
export function checkedBatch(
  name: string,
  value: unknown,
  { vocabulary, classes, positions }: { vocabulary: number; classes: number; positions: number },
): CheckedBatch {
  const batch = value as TaskBatch;
  check.knownOptions(name, batch, batchNames);
  const n = check.integer(`${name}.n`, batch.n, 1, positions);
  const tokens = checkedTokens(`${name}.tokens`, batch.tokens, n, vocabulary);
  const targets = check.ids(`${name}.targets`, batch.targets, -1, classes - 1);
  if (targets.length !== tokens.length)
    check.refuseCount(
      `${name}.targets`,
      `${tokens.length} entries, as many as there are tokens`,
      targets.length,
    );
  if (!targets.some((target) => target >= 0))
    throw new RangeError(`${name}.targets needs at least 1 target; all ${targets.length} are −1.`);
  return { n, tokens, targets };
}

export function tasksApi(raw: RawModule): TasksApi {
  return {
    taskExamples(options) {
      check.knownOptions('options', options, { ...taskOptionNames, sequences: true, seed: true });
      const task = checkedTask(raw, options);
      const sequences = check.integer('sequences', options.sequences ?? 1, 1, 2 ** 16);
      const seed = check.seed('seed', options.seed ?? 1);
      check.requireMemory(`${sequences} sequences of ${task.n} tokens`, raw.batchBytes(sequences * task.n));
      const { vocabulary, classes } = task;
      return { ...raw.taskExamples(task, sequences, seed), vocabulary, classes };
    },

    taskTargets(options) {
      // A batch may be passed back in, with its targets and sizes.
      check.knownOptions('options', options, { ...taskOptionNames, ...batchNames });
      const task = checkedTask(raw, options);
      const { n, vocabulary, classes } = task;
      const tokens = checkedTokens('tokens', options.tokens, n, vocabulary);
      check.requireMemory(`The targets of ${tokens.length} tokens`, raw.batchBytes(tokens.length));
      return { n, tokens, targets: raw.taskTargets(task, tokens), vocabulary, classes };
    },
  };
}
