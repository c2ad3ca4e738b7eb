// The page's side of the worker, with a fake line that answers on demand: any interleaving of asking,
// cancelling, answering, failing and breaking. Drawn by fast-check, which prints the seed of a failure.
import * as fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { AnswerListener } from '../../web/worker/client.ts';
import type { Connection, Question, Reply, Transport } from '../../web/worker/transports.ts';

type Asked = Extract<Question, { figure: string }>;

/** A line that records what it is sent, and says what a test tells it to. */
class TestLine implements Connection {
  onmessage: Connection['onmessage'] = null;
  onerror: Connection['onerror'] = null;
  readonly told: Question[] = [];
  ended = false;
  postMessage(message: unknown): void {
    if (this.ended) throw new Error('This line has been ended.');
    this.told.push(message as Question);
  }
  terminate(): void {
    this.ended = true;
  }
  say(reply: Reply): void {
    this.onmessage?.({ data: reply } as MessageEvent);
  }
  /** Returns whether the error was kept from the console. */
  break(): boolean {
    let prevented = false;
    const event = { preventDefault: () => (prevented = true) };
    this.onerror?.(event as never);
    return prevented;
  }
  get asked(): Asked[] {
    return this.told.filter((question): question is Asked => 'figure' in question);
  }
}

const workerFailed = 'The compute worker failed to load.';

let client: typeof import('../../web/worker/client.ts');
let lines: TestLine[];

/** Sets up transports that each start a line, or that cannot. */
async function withWays(...ways: ('starts' | 'throws' | 'throws once')[]): Promise<void> {
  vi.resetModules();
  client = await import('../../web/worker/client.ts');
  lines = [];
  const { transports } = await import('../../web/worker/transports.ts');
  const names: Transport['name'][] = ['worker', 'blob worker', 'page'];
  transports.push(
    ...ways.map((kind, at): Transport => {
      let starts = 0;
      return {
        name: names[at] as Transport['name'],
        start() {
          starts += 1;
          if (kind === 'throws' || (kind === 'throws once' && starts === 1)) throw new Error('refused');
          const line = new TestLine();
          lines.push(line);
          return line;
        },
      };
    }),
  );
}

const newest = () => lines.at(-1) as TestLine;

/** What an asker hears, in order. */
function listener() {
  const heard: string[] = [];
  const answers: AnswerListener = {
    answered: (data, state) => heard.push(`answered ${data} for ${state.n}`),
    failed: (sentence) => heard.push(`failed ${sentence}`),
    progress: (fraction) => heard.push(`progress ${fraction}`),
    frame: (data, state) => heard.push(`frame ${data} for ${state.n}`),
  };
  return { heard, answers };
}

beforeEach(() => withWays('starts'));

describe('one asker', () => {
  test('is answered with the state that it asked for', () => {
    const { heard, answers } = listener();
    client.asker('gram', answers).ask({ n: 1 });
    expect(newest().told).toEqual([{ id: 0, figure: 'gram', state: { n: 1 } }]);
    newest().say({ id: 0, progress: 0.5 });
    newest().say({ id: 0, data: 'a' });
    // Nothing more is heard about an answered question.
    newest().say({ id: 0, data: 'b' });
    newest().say({ id: 7, data: 'of somebody else' });
    expect(heard).toEqual(['progress 0.5', 'answered a for 1']);
  });

  test('has one question under way: a newer one cancels it, and only the newest follows', () => {
    const { heard, answers } = listener();
    const asker = client.asker('gram', answers);
    asker.ask({ n: 1 });
    asker.ask({ n: 2 });
    asker.ask({ n: 3 });
    expect(newest().told).toEqual([{ id: 0, figure: 'gram', state: { n: 1 } }, { cancel: 0 }, { cancel: 0 }]);
    newest().say({ id: 0, error: 'aborted' });
    expect(newest().told.slice(3)).toEqual([{ id: 1, figure: 'gram', state: { n: 3 } }]);
    newest().say({ id: 1, data: 'c' });
    expect(heard).toEqual(['answered c for 3']);
  });

  test('a run is watched until another question overtakes it, and looked at with other settings', () => {
    const { heard, answers } = listener();
    const asker = client.asker('gram', answers);
    asker.order('pause');
    asker.ask({ n: 1 }, { again: true, paused: true });
    expect(newest().told).toEqual([{ id: 0, figure: 'gram', state: { n: 1 }, again: true, paused: true }]);
    newest().say({ id: 0, frame: 'a' });
    asker.order('step');
    asker.ask({ n: 2 }, { look: true });
    expect(newest().told.slice(1)).toEqual([
      { job: 0, order: 'step' },
      { job: 0, order: { look: { n: 2 } } },
    ]);
    newest().say({ id: 0, frame: 'b' });
    asker.ask({ n: 3 });
    expect(newest().told.at(-1)).toEqual({ cancel: 0 });
    newest().say({ id: 0, frame: 'overtaken' });
    newest().say({ id: 0, progress: 0.5 });
    newest().say({ id: 0, error: 'aborted' });
    newest().say({ id: 1, frame: 'c' });
    asker.cancel();
    newest().say({ id: 1, frame: 'cancelled' });
    newest().say({ id: 1, progress: 0.5 });
    expect(heard).toEqual(['frame a for 1', 'frame b for 2', 'frame c for 3']);
  });

  test('a run that is cancelled is looked at no more: what is asked then comes after it', () => {
    const { answers } = listener();
    const asker = client.asker('gram', answers);
    asker.ask({ n: 1 });
    asker.cancel();
    asker.ask({ n: 2 }, { look: true });
    expect(newest().told.slice(1)).toEqual([{ cancel: 0 }, { cancel: 0 }]);
  });

  test('a state that no line takes is a failure, and the next one is asked', () => {
    const { heard, answers } = listener();
    const asker = client.asker('gram', answers);
    client.startEarly();
    newest().postMessage = () => {
      throw new Error('It cannot be cloned.');
    };
    asker.ask({ n: 1 });
    expect(heard).toEqual(['failed It cannot be cloned.']);
    newest().postMessage = TestLine.prototype.postMessage;
    asker.ask({ n: 2 });
    expect(newest().asked.map(({ state }) => state.n)).toEqual([2]);
  });
});

describe('transports', () => {
  test('the first that starts is taken, and said', async () => {
    await withWays('throws', 'starts', 'starts');
    expect(client.answeredIn()).toBeUndefined();
    client.startEarly();
    client.startEarly();
    expect(client.answeredIn()).toBe('blob worker');
    expect(lines.length).toBe(1);
  });

  test('none starts: each question says so, and starting early says nothing', async () => {
    await withWays('throws', 'throws');
    expect(() => client.startEarly()).not.toThrow();
    expect(client.answeredIn()).toBeUndefined();
    const { heard, answers } = listener();
    client.asker('gram', answers).ask({ n: 1 });
    expect(heard).toEqual([`failed ${workerFailed}`]);
  });

  test('each is tried, the last one too, and the last one again for the next question', async () => {
    await withWays('throws', 'starts');
    client.startEarly();
    expect(client.answeredIn()).toBe('blob worker');
    await withWays('throws', 'throws once');
    const { heard, answers } = listener();
    const asker = client.asker('gram', answers);
    asker.ask({ n: 1 });
    expect(heard).toEqual([`failed ${workerFailed}`]);
    asker.ask({ n: 2 });
    newest().say({ id: 1, data: 'a' });
    expect(heard.at(-1)).toBe('answered a for 2');
  });

  test('one that breaks before it said anything: the next takes its questions, in silence', async () => {
    await withWays('starts', 'starts');
    const [one, other] = [listener(), listener()];
    client.asker('gram', one.answers).ask({ n: 1 });
    client.asker('gram', other.answers).ask({ n: 2 });
    const [first] = lines as [TestLine];
    expect(first.break()).toBe(true);
    expect(first.ended).toBe(true);
    expect(lines.length).toBe(2);
    expect(client.answeredIn()).toBe('blob worker');
    expect(newest().asked).toEqual(first.asked);
    newest().say({ id: 0, data: 'a' });
    newest().say({ id: 1, data: 'b' });
    expect([...one.heard, ...other.heard]).toEqual(['answered a for 1', 'answered b for 2']);
  });

  test('when the last transport breaks, or one that has answered, every question fails and the next starts again', async () => {
    for (const ways of [['starts'], ['starts', 'starts']] as const) {
      await withWays(...ways);
      const { heard, answers } = listener();
      const asker = client.asker('gram', answers);
      asker.ask({ n: 1 });
      if (ways.length > 1) newest().say({ id: 0, progress: 0 });
      heard.length = 0;
      const [first] = lines as [TestLine];
      expect(first.break()).toBe(false);
      expect(first.ended).toBe(true);
      expect(heard).toEqual([`failed ${workerFailed}`]);
      // Whatever the ended line still says reaches nobody, and it breaks only once.
      first.break();
      expect(heard.length).toBe(1);
      asker.ask({ n: 2 });
      expect(lines.length).toBe(2);
      expect(client.answeredIn()).toBe('worker');
      newest().say({ id: 1, data: 'a' });
      expect(heard.at(-1)).toBe('answered a for 2');
    }
  });

  test('the next that does not start either is a failure', async () => {
    await withWays('starts', 'throws');
    const { heard, answers } = listener();
    client.asker('gram', answers).ask({ n: 1 });
    newest().break();
    expect(heard).toEqual([`failed ${workerFailed}`]);
  });
});

/** What can happen to two askers and their line. */
const happening = fc.oneof(
  fc.record({ what: fc.constant('ask' as const), who: fc.nat(1) }),
  fc.record({ what: fc.constant('cancel' as const), who: fc.nat(1) }),
  fc.record({
    what: fc.constantFrom('answer' as const, 'fail' as const, 'progress' as const),
    who: fc.nat(9),
  }),
  fc.record({ what: fc.constant('break' as const), who: fc.constant(0) }),
);

test('in any interleaving each asker has one question under way, hears nothing after a cancel, and gets its newest answered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 60 }), async (happenings) => {
      await withWays('starts', 'starts');
      const [left, right] = [listener(), listener()];
      const askers = [client.asker('a', left.answers), client.asker('b', right.answers)];
      const heard = [left.heard, right.heard];
      /** The newest state of each asker, unless it was cancelled or reported lost. */
      const newestStates: (number | undefined)[] = [undefined, undefined];
      const open = (who?: number) => {
        const line = lines.at(-1);
        if (!line || line.ended) return [];
        const figures = who === undefined ? ['a', 'b'] : [['a', 'b'][who]];
        return line.asked.filter(({ id, figure }) => !done.has(id) && figures.includes(figure));
      };
      const done = new Set<number>();
      let count = 0;
      const settle = (question: Asked, reply: Reply) => {
        done.add(question.id);
        const who = ['a', 'b'].indexOf(question.figure);
        const before = heard[who]?.length ?? 0;
        newest().say(reply);
        // An asker who no longer waits hears nothing more.
        if (newestStates[who] === undefined) expect(heard[who]?.length).toBe(before);
        else if (newestStates[who] === question.state.n) {
          expect(heard[who]?.length).toBe(before + 1);
          newestStates[who] = undefined;
        }
      };
      for (const { what, who } of happenings) {
        if (what === 'ask') {
          newestStates[who] = count;
          askers[who]?.ask({ n: count++ });
        } else if (what === 'cancel') {
          newestStates[who] = undefined;
          askers[who]?.cancel();
        } else if (what === 'break') {
          const line = lines.at(-1);
          if (!line || line.ended) continue;
          const lost = open();
          line.break();
          // The questions moved to the next transport, or their loss was reported.
          if (lines.at(-1) === line) for (const { id } of lost) done.add(id);
          for (const side of [0, 1]) if (open(side).length === 0) newestStates[side] = undefined;
        } else {
          const question = open()[who % Math.max(1, open().length)];
          if (!question) continue;
          if (what === 'progress') newest().say({ id: question.id, progress: 0.5 });
          else if (what === 'answer') settle(question, { id: question.id, data: 'data' });
          else settle(question, { id: question.id, error: 'Aborted.' });
        }
        for (const side of [0, 1]) expect(open(side).length).toBeLessThanOrEqual(1);
      }
      // Finally the line answers everything: all answers that are still wanted arrive, and each asker's last
      // one is the newest.
      for (let left = 10; open().length > 0 && left > 0; left--) {
        const [question] = open() as [Asked];
        settle(question, { id: question.id, data: 'data' });
      }
      expect(newestStates).toEqual([undefined, undefined]);
      expect(open()).toEqual([]);
    }),
    { numRuns: Number(process.env.SUPERPOSE_RUNS ?? 200) },
  );
});
