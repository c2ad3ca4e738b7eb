// A thread that trains one model after another, until it is ended.
import { parentPort } from 'node:worker_threads';
import { load, type TaskTrainerOptions } from 'superpose';
import { trainingRun } from '../../figures/training.js';

const superpose = await load();
parentPort?.on('message', async (options: TaskTrainerOptions) => {
  parentPort?.postMessage(await trainingRun(superpose, { options, steps: options.steps as number }));
});
