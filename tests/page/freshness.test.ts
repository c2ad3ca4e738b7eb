// A figure never waits for an answer that nobody wants any more, and never shows one over a newer one.
import { load, loadMiniLM } from 'superpose';
import { expect, test } from 'vitest';
import {
  dotProductsFor,
  firstSentence,
  printed1,
  printed2,
  type Settings,
  type View,
} from './support/computed.ts';
import { readFigure1, readFigure2 } from './support/shown.ts';
import { figure1, figure2, modelTest, visit } from './support/visit.ts';

interface Desk {
  /** What the page asked of its worker. */
  asked: { task: string; request: Record<string, unknown> }[];
  /** Answers that came in while the desk was closed. */
  held: (() => void)[];
  closed: boolean;
}

/** Sits between the page and its worker: notes the questions, and keeps answers back while it is closed. */
const putDesk = () => {
  const desk: Desk = { asked: [], held: [], closed: false };
  Object.assign(window, { desk });
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...message: unknown[]) {
    desk.asked.push(message[0] as Desk['asked'][0]);
    return postMessage.apply(this, message as never);
  } as never;
  const { set } = Object.getOwnPropertyDescriptor(Worker.prototype, 'onmessage') as PropertyDescriptor;
  Object.defineProperty(Worker.prototype, 'onmessage', {
    set(this: Worker, listener: (event: MessageEvent) => void) {
      set?.call(this, (event: MessageEvent) => {
        const deliver = () => listener.call(this, event);
        if (desk.closed) desk.held.push(deliver);
        else deliver();
      });
    },
  });
};

async function visitWithDesk() {
  const visited = await visit({ first: putDesk });
  const { page } = visited;
  const inPage = <T>(look: (desk: Desk) => T): Promise<T> =>
    page.evaluate(`(${look})(window.desk)`) as Promise<T>;
  return {
    ...visited,
    asked: (task: string, setting: string) =>
      inPage(({ asked }) => asked).then((all) =>
        all.filter((one) => one.task === task).map(({ request }) => request[setting]),
      ),
    close: () =>
      inPage((desk) => {
        desk.closed = true;
      }),
    held: () => inPage((desk) => desk.held.length),
    open: () =>
      inPage((desk) => {
        desk.closed = false;
        for (const deliver of desk.held.splice(0)) deliver();
      }),
  };
}

const superpose = await load();
const firstSettings: Settings = {
  source: 'seeded',
  encoding: 'interleaved',
  d: 64,
  scale: 1,
  n: 32,
  seed: 1,
};

/** The moments that figure 1 must come to show for its first settings with a change. */
const momentsFor = async (change: Partial<Settings>) => {
  const settings = { ...firstSettings, ...change };
  const { table } = printed1(await dotProductsFor(superpose, settings), [0, 1]);
  return { ...change, table };
};

test('fifty steps of a slider in one go are two questions, and the figure ends on the last', async () => {
  const { page, asked } = await visitWithDesk();
  await expect.poll(() => page.evaluate(readFigure1)).toMatchObject(await momentsFor({}));
  // All of it in one turn of the page's loop, faster than any hand.
  await page.evaluate(() => {
    const slider = document
      .querySelector('superpose-dot-products')
      ?.shadowRoot?.querySelector('input[name=scale]') as HTMLInputElement;
    for (let step = 1; step <= 50; step++) {
      slider.value = String(step * 0.05);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  await expect.poll(() => page.evaluate(readFigure1)).toMatchObject(await momentsFor({ scale: 2.5 }));
  // The first is on its way before the second comes; of all the others only the newest is asked.
  expect(await asked('dotProducts', 'positionScale')).toEqual([1, 0.05, 2.5]);
});

test('while an answer is on its way, only the newest question waits', async () => {
  const { page, asked, close, held, open } = await visitWithDesk();
  await expect.poll(() => page.evaluate(readFigure1)).toBeDefined();
  await close();
  for (const n of ['128', '90', '3', '7']) await figure1(page).locator('input[name=n]').fill(n);
  await expect.poll(held).toBeGreaterThan(0);
  await open();
  await expect.poll(() => page.evaluate(readFigure1)).toMatchObject(await momentsFor({ n: 7 }));
  expect(await asked('dotProducts', 'n')).toEqual([32, 128, 7]);
  expect(await held()).toBe(0);
});

modelTest('view and head changed back and forth faster than the answers', async () => {
  const { page, close, held, open } = await visitWithDesk();
  const model = await loadMiniLM(superpose);
  const showing = async (view: View) => {
    const scores = await model.decompose(firstSentence, { only: [view.head] });
    await expect.poll(() => page.evaluate(readFigure2)).toMatchObject(printed2(scores, view));
  };
  const choose = async (view: string, head: string) => {
    await figure2(page).getByLabel(view).check();
    await figure2(page).getByRole('combobox').selectOption(head);
  };
  await showing({ head: 2, cell: [3, 2] });
  await close();
  await choose('All sixteen terms', '7');
  await expect.poll(held).toBe(1);
  await choose('Four questions', '0');
  await open();
  await showing({ head: 0, cell: [3, 2] });

  await close();
  await choose('All sixteen terms', '4');
  await choose('Four questions', '5');
  await expect.poll(held).toBe(1);
  await choose('All sixteen terms', '8');
  await open();
  await showing({ head: 8, cell: [3, 2], all: true });
});

modelTest('a sentence given up while its words are on their way', async () => {
  const { page, site } = await visit();
  const box = page.locator('section superpose-sentence textarea').last();
  await expect.poll(() => page.evaluate(readFigure2)).toBeDefined();
  const before = site.requests.length;
  const release = site.hold(/words-/);
  await box.fill('zebra crossings');
  await expect.poll(() => site.requests.slice(before).join()).toContain('words-');
  await box.fill('the other bank');
  // The typed text is passed on after a pause, so nothing tells that it has been, but the answer.
  release();
  await expect
    .poll(async () => (await page.evaluate(readFigure2))?.tokens)
    .toEqual(['[CLS]', 'the', 'other', 'bank', '[SEP]']);
});
