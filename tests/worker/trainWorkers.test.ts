// Jobs spread over workers, without workers: promises that are settled by hand.
import { expect, test } from 'vitest';
import { inPool, type PoolWorker } from '../../web/node/command/trainWorkers.ts';

/** Fake workers: the test settles what each is doing, by the job's name. */
function workshop() {
  const at = new Map<string, { resolve(result: string): void; reject(error: Error): void }>();
  const closed: number[] = [];
  const begun: string[] = [];
  let count = 0;
  const start = (): PoolWorker<string, string> => {
    const number = count++;
    return {
      work(job) {
        begun.push(`${job} by ${number}`);
        return new Promise((resolve, reject) => at.set(job, { resolve, reject }));
      },
      close: () => closed.push(number),
    };
  };
  const done = async (job: string) => {
    at.get(job)?.resolve(job.toUpperCase());
    await turns();
  };
  return { start, at, begun, closed, done };
}

const turns = () => new Promise((resolve) => setTimeout(resolve));

/** The results so far, and how they ended. */
function listened(results: AsyncGenerator<string>) {
  const heard: { results: string[]; error?: unknown; ended?: boolean } = { results: [] };
  (async () => {
    for await (const result of results) heard.results.push(result);
    heard.ended = true;
  })().catch((error) => {
    heard.error = error;
  });
  return heard;
}

test('results come in order whichever worker is first, each as early as possible', async () => {
  const { start, begun, closed, done } = workshop();
  const heard = listened(inPool(['a', 'b', 'c', 'd'], start, 2));
  await turns();
  expect(begun).toEqual(['a by 0', 'b by 1']);
  await done('b');
  expect(begun.at(-1)).toBe('c by 1');
  expect(heard.results).toEqual([]);
  await done('a');
  expect(heard.results).toEqual(['A', 'B']);
  await done('d');
  await done('c');
  expect(heard).toEqual({ results: ['A', 'B', 'C', 'D'], ended: true });
  expect(closed).toEqual([0, 1]);
});

test('no more workers than jobs', async () => {
  const { start, begun, done } = workshop();
  const heard = listened(inPool(['a'], start, 8));
  await turns();
  await done('a');
  expect(begun).toEqual(['a by 0']);
  expect(heard.ended).toBe(true);
  expect(listened(inPool([], start, 8)).results).toEqual([]);
});

test('leaving early ends the workers', async () => {
  const { start, begun, closed, done } = workshop();
  const results = inPool(['a', 'b', 'c', 'd'], start, 2);
  const first = results.next();
  await turns();
  await done('a');
  expect(await first).toEqual({ value: 'A', done: false });
  await results.return();
  expect(closed).toEqual([0, 1]);
  // What they were doing may still come to its end, but nothing more is begun.
  await done('b');
  expect(begun).toEqual(['a by 0', 'b by 1', 'c by 0']);
});

test('a job that fails ends the results where it stands, not before', async () => {
  const { start, at, closed, done } = workshop();
  const heard = listened(inPool(['a', 'b', 'c'], start, 2));
  await turns();
  at.get('b')?.reject(new Error('diverged'));
  await turns();
  expect(heard.error).toBeUndefined();
  await done('a');
  expect(heard).toMatchObject({ results: ['A'], error: new Error('diverged') });
  expect(closed).toEqual([0, 1]);
});
