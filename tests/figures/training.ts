// For tests of figures that train: counted trainers, a simulated reader, and a job that nobody watches.
import type { Trainer } from 'add-or-concatenate';
import type { Job, Library, LiveJob } from '../../web/figures/figure.ts';
import { library } from '../../web/worker/library.ts';

/** The job of a computation that nobody watches. */
export const alone = (): Job => ({ signal: new AbortController().signal, progress: () => {} });

/** A library that keeps track of its trainers: which still exist, and how often any was stepped. */
export function countedTrainers(loaded: Library = library()): {
  counted: Library;
  open: Set<Trainer>;
  made(): number;
  steps(): number;
} {
  const open = new Set<Trainer>();
  let [created, steps] = [0, 0];
  const counted: Library = {
    ...loaded,
    async superpose() {
      const superpose = await loaded.superpose();
      return {
        ...superpose,
        trainer(options) {
          const trainer = superpose.trainer(options);
          open.add(trainer);
          created += 1;
          const [step, free] = [trainer.step.bind(trainer), trainer.delete];
          return Object.assign(trainer, {
            step(count?: number) {
              steps += 1;
              return step(count);
            },
            delete() {
              open.delete(trainer);
              free();
            },
          });
        },
      };
    },
  };
  return { counted, open, made: () => created, steps: () => steps };
}

/** A reader who lets a run go on, except for the given turns first; and the frames shown to them. */
export function watched<Frame>(state: object, turns: ('go' | 'look')[] = []): { frames: Frame[]; job: Job } {
  const frames: Frame[] = [];
  const watching: LiveJob = {
    again: true,
    state: () => state as never,
    frame: (data) => frames.push(structuredClone(data) as Frame),
    turn: async () => turns.shift() ?? 'go',
  };
  return { frames, job: { ...alone(), live: watching } };
}
