// A figure never waits for an answer that is no longer wanted, and never shows one over a newer one.
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { expected, figures, withoutRounding, writeLink } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, modelTest, visit } from './support/visit.ts';

interface Desk {
  /** The questions that the page has sent to its worker. */
  asked: { id: number; figure: string; state: Record<string, unknown> }[];
  cancelled: number[];
  /** Answers that arrived while the desk was closed. */
  held: (() => void)[];
  closed: boolean;
}

/** Sits between the page and its worker: records the questions, and holds answers back while it is closed. */
const putDesk = () => {
  const desk: Desk = { asked: [], cancelled: [], held: [], closed: false };
  Object.assign(window, { desk });
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...message: unknown[]) {
    const said = message[0] as Desk['asked'][0] & { cancel?: number };
    if (said.cancel === undefined) desk.asked.push(said);
    else desk.cancelled.push(said.cancel);
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
    asked: (figure: string, setting: string) =>
      inPage(({ asked }) => asked).then((all) =>
        all.filter((one) => one.figure === figure).map(({ state }) => state[setting]),
      ),
    cancelled: () => inPage((desk) => desk.cancelled.length),
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

const name = 'dot-products';

test('fifty steps of a slider in one go are two questions, and the figure ends on the last', async () => {
  const { page, asked } = await visitWithDesk();
  await drawn(page, name);
  // All in one turn of the page's event loop, faster than any hand.
  await page.evaluate(() => {
    const slider = document
      .querySelector('superpose-figure[name=dot-products]')
      ?.shadowRoot?.querySelector('input[name=scale]') as HTMLInputElement;
    for (let step = 1; step <= 50; step++) {
      slider.value = String(step * 0.05);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  const shown = await drawn(page, name);
  expect(shown.state.scale).toBe(2.5);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding);
  // The first question is sent before the second setting comes; of the others, only the newest is asked.
  expect(await asked(name, 'scale')).toEqual([1, 0.05, 2.5]);
});

test('while an answer is on its way, only the newest question waits, and the old one is cancelled', async () => {
  const { page, asked, cancelled, close, held, open } = await visitWithDesk();
  await drawn(page, name);
  await close();
  for (const n of ['128', '90', '3', '7']) await figureOf(page, name).locator('input[name=n]').fill(n);
  await expect.poll(held).toBeGreaterThan(0);
  expect(await cancelled()).toBeGreaterThan(0);
  await open();
  const shown = await drawn(page, name);
  expect(shown.state.n).toBe(7);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding);
  expect(await asked(name, 'n')).toEqual([32, 128, 7]);
  expect(await held()).toBe(0);
});

modelTest('view and head changed back and forth faster than the answers', async () => {
  const { page, close, held, open } = await visitWithDesk();
  await drawn(page, 'one-score');
  const figure = figureOf(page, 'one-score');
  const choose = async (view: string, head: string) => {
    await figure.getByLabel(view).check();
    await figure.locator('input[name=head]').fill(head);
  };
  const showing = async (head: number, view: string) => {
    const shown = await drawn(page, 'one-score');
    expect(shown.state).toMatchObject({ head, view });
    expect(withoutRounding(shown.finding)).toBe(
      withoutRounding((await expected('one-score', shown.state)).finding),
    );
  };
  await close();
  await choose('All sixteen', '7');
  await expect.poll(held).toBeGreaterThan(0);
  await choose('Four questions', '0');
  await open();
  await showing(0, 'four');

  await close();
  await choose('All sixteen', '4');
  await choose('Four questions', '5');
  await expect.poll(held).toBeGreaterThan(0);
  await choose('All sixteen', '8');
  await open();
  await showing(8, 'sixteen');
});

modelTest('a sentence given up while its words are on their way', async () => {
  const { page, site } = await visit();
  await drawn(page, 'one-score');
  const box = figureOf(page, 'one-score').locator('textarea');
  const before = site.requests.length;
  const release = site.hold(/words-/);
  await box.fill('zebra crossings');
  await expect.poll(() => site.requests.slice(before).join()).toContain('words-');
  await box.fill('the other bank');
  // Typed text is passed on after a pause; only the answer shows that it was.
  release();
  await expect
    .poll(async () => (await page.evaluate(readFigure, 'one-score'))?.tokens)
    .toEqual(['[CLS]', 'the', 'other', 'bank', '[SEP]']);
});

/** The marks in the document, and those of a cursor in the first cell. */
const picture = async (page: Page, name: string): Promise<string[]> =>
  figureOf(page, name).evaluate(async (element) => {
    const figure = element as HTMLElement & { cursor: object; updateComplete: Promise<unknown> };
    figure.cursor = { i: 0, j: 0 };
    await figure.updateComplete;
    return ['.marks', '.frame'].map((layer) => figure.shadowRoot?.querySelector(layer)?.innerHTML ?? '');
  });

// A step rewrites only the marks that changed: in some steps as many as before, in others more or fewer.
modelTest.each([
  ['gram', ['positions', 'd']],
  ['dot-products', ['n', 'scale']],
  ['three-concats', ['n', 'd_head']],
  ['one-score', ['head']],
  ['cosines', ['d', 'pairs']],
])('after steps of its sliders, %s shows what it shows when it is opened there', async (name, sliders) => {
  const { page } = await visit();
  await drawn(page, name);
  for (const slider of sliders) {
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowRight']) {
      await figureOf(page, name).locator(`input[name=${slider}]`).press(key);
      await drawn(page, name);
    }
  }
  const { state } = await drawn(page, name);
  const stepped = await picture(page, name);
  expect(stepped[0]?.length).toBeGreaterThan(1000);
  const { controls } = figures[name] as (typeof figures)[string];
  const { page: opened } = await visit({ fragment: writeLink(name, controls, state as never) });
  await drawn(opened, name);
  expect(await picture(opened, name)).toEqual(stepped);
});
