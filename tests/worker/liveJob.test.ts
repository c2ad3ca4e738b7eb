// The turns of a live job: going on, paused, stepped, shown with other settings, and cancelled.
import { expect, test } from 'vitest';
import { answering, liveJob, memoizer } from '../../web/worker/answers.ts';
import type { Reply } from '../../web/worker/transports.ts';

/** Waits longer than a turn takes. */
const pause = () => new Promise<void>((go) => setTimeout(go, 5));

/** A job that takes turns until it is cancelled, and the result of each turn. */
function started(options: { again?: true; paused?: true } = {}) {
  const cancel = new AbortController();
  const frames: unknown[] = [];
  const { job, take } = liveJob({ state: { n: 1 }, ...options }, cancel.signal, (data) => frames.push(data));
  const turns: string[] = [];
  const end = (async () => {
    for (;;) turns.push(`${await job.turn()} ${job.state().n}`);
  })().catch((error: Error) => error.name);
  return { job, take, cancel, turns, frames, end };
}

test('it goes on by itself unless it begins paused, and says whether it is to begin anew', async () => {
  const going = started();
  await expect.poll(() => going.turns.length).toBeGreaterThan(3);
  expect(going.job.again).toBe(false);
  expect(going.turns[0]).toBe('go 1');
  going.job.frame('a');
  expect(going.frames).toEqual(['a']);
  going.cancel.abort();
  expect(await going.end).toBe('AbortError');
  const paused = started({ paused: true, again: true });
  await pause();
  await pause();
  expect(paused.turns).toEqual([]);
  expect(paused.job.again).toBe(true);
  // A cancellation ends a paused job, too.
  paused.cancel.abort();
  expect(await paused.end).toBe('AbortError');
});

test('paused, it takes as many turns as there are steps, and no more', async () => {
  const { take, turns, cancel, end } = started({ paused: true });
  take('step');
  take('step');
  await expect.poll(() => turns.length).toBe(2);
  await pause();
  await pause();
  expect(turns).toEqual(['go 1', 'go 1']);
  take('step');
  await expect.poll(() => turns.length).toBe(3);
  take('go');
  await expect.poll(() => turns.length).toBeGreaterThan(5);
  take('pause');
  await pause();
  await pause();
  const before = turns.length;
  await pause();
  expect(turns.length).toBe(before);
  // Steps that were not taken are forgotten when it is paused again.
  take('step');
  take('pause');
  await pause();
  expect(turns.length).toBe(before);
  cancel.abort();
  expect(await end).toBe('AbortError');
});

test('paused, it is shown with other settings once, without a turn', async () => {
  const { take, turns, cancel, end } = started({ paused: true });
  take({ look: { n: 7 } });
  await expect.poll(() => turns.length).toBe(1);
  await pause();
  await pause();
  expect(turns).toEqual(['look 7']);
  take('step');
  await expect.poll(() => turns.length).toBe(2);
  expect(turns[1]).toBe('go 7');
  cancel.abort();
  await end;
});

test('orders reach the job that they name while it is under way; a question for an excerpt has none', async () => {
  const replies: Reply[] = [];
  const answer = answering(
    async (_, __, { live }) => {
      if (!live) return 'not live';
      live.frame('begun');
      return [await live.turn(), live.state().n];
    },
    (reply) => replies.push(reply),
  );
  const done = answer({ id: 4, figure: 'gram', state: { n: 1 }, paused: true });
  await answer({ job: 9, order: 'step' });
  await answer({ job: 4, order: { look: { n: 2 } } });
  await done;
  await answer({ job: 4, order: 'go' });
  await answer({ id: 5, figure: 'gram', state: {}, excerpt: true });
  expect(replies).toEqual([
    { id: 4, frame: 'begun' },
    { id: 4, data: ['look', 2] },
    { id: 5, data: 'not live' },
  ]);
});

test('a handle that is memoized is freed before another is made, and made again once it is gone', () => {
  const memoize = memoizer();
  const events: string[] = [];
  const search = (key: string) =>
    memoize('search', key, () => {
      let alive = true;
      events.push(key);
      const free = () => {
        alive = false;
        events.push(`${key} freed`);
      };
      return { isAlive: () => alive, delete: free };
    });
  expect(search('a')).toBe(search('a'));
  search('a').delete();
  search('a');
  search('b');
  expect(events).toEqual(['a', 'a freed', 'a freed', 'a', 'a freed', 'b']);
});
