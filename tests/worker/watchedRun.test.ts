// The turns of a run that is watched: running, paused, stepped, viewed with other settings, and cancelled.
import { expect, test } from 'vitest';
import { answering, keeping, watchedRun } from '../../web/worker/answers.ts';
import type { Reply } from '../../web/worker/transports.ts';

const free = () => new Promise<void>((go) => setTimeout(go, 5));

/** A run that takes turns until it is cancelled, and the result of each. */
function running(asked: { again?: true; held?: true } = {}) {
  const cancel = new AbortController();
  const frames: unknown[] = [];
  const { run, hear } = watchedRun({ state: { n: 1 }, ...asked }, cancel.signal, (data) => frames.push(data));
  const taken: string[] = [];
  const ended = (async () => {
    for (;;) taken.push(`${await run.turn()} ${run.state().n}`);
  })().catch((error: Error) => error.name);
  return { run, hear, cancel, taken, frames, ended };
}

test('it goes on by itself unless it begins held, and says whether it is to begin anew', async () => {
  const going = running();
  await expect.poll(() => going.taken.length).toBeGreaterThan(3);
  expect(going.run.again).toBe(false);
  expect(going.taken[0]).toBe('go 1');
  going.run.frame('a');
  expect(going.frames).toEqual(['a']);
  going.cancel.abort();
  expect(await going.ended).toBe('AbortError');
  const held = running({ held: true, again: true });
  await free();
  await free();
  expect(held.taken).toEqual([]);
  expect(held.run.again).toBe(true);
  // A waiting run is ended too.
  held.cancel.abort();
  expect(await held.ended).toBe('AbortError');
});

test('held, it takes as many turns as there are steps, and no more', async () => {
  const { hear, taken, cancel, ended } = running({ held: true });
  hear('step');
  hear('step');
  await expect.poll(() => taken.length).toBe(2);
  await free();
  await free();
  expect(taken).toEqual(['go 1', 'go 1']);
  hear('step');
  await expect.poll(() => taken.length).toBe(3);
  hear('go');
  await expect.poll(() => taken.length).toBeGreaterThan(5);
  hear('hold');
  await free();
  await free();
  const before = taken.length;
  await free();
  expect(taken.length).toBe(before);
  // Steps that were not taken are forgotten when it is paused again.
  hear('step');
  hear('hold');
  await free();
  expect(taken.length).toBe(before);
  cancel.abort();
  expect(await ended).toBe('AbortError');
});

test('held, it is looked at with other settings, once, without a turn', async () => {
  const { hear, taken, cancel, ended } = running({ held: true });
  hear({ look: { n: 7 } });
  await expect.poll(() => taken.length).toBe(1);
  await free();
  await free();
  expect(taken).toEqual(['look 7']);
  hear('step');
  await expect.poll(() => taken.length).toBe(2);
  expect(taken[1]).toBe('go 7');
  cancel.abort();
  await ended;
});

test('orders reach the run that they name, while it is under way; a question for an excerpt has none', async () => {
  const said: Reply[] = [];
  const answer = answering(
    async (_, __, { run }) => {
      if (!run) return 'not watched';
      run.frame('begun');
      return [await run.turn(), run.state().n];
    },
    (reply) => said.push(reply),
  );
  const done = answer({ id: 4, figure: 'gram', state: { n: 1 }, held: true });
  await answer({ run: 9, order: 'step' });
  await answer({ run: 4, order: { look: { n: 2 } } });
  await done;
  await answer({ run: 4, order: 'go' });
  await answer({ id: 5, figure: 'gram', state: {}, excerpt: true });
  expect(said).toEqual([
    { id: 4, frame: 'begun' },
    { id: 4, data: ['look', 2] },
    { id: 5, data: 'not watched' },
  ]);
});

test('a handle that is kept is freed before another is made, and made again once it is gone', () => {
  const [kept, said]: [ReturnType<typeof keeping>, string[]] = [keeping(), []];
  const made = (key: string) =>
    kept('search', key, () => {
      let alive = true;
      said.push(key);
      const free = () => {
        alive = false;
        said.push(`${key} freed`);
      };
      return { isAlive: () => alive, delete: free };
    });
  expect(made('a')).toBe(made('a'));
  made('a').delete();
  made('a');
  made('b');
  expect(said).toEqual(['a', 'a freed', 'a freed', 'a', 'a freed', 'b']);
});
