// A figure of the page in any engine, scrolled to and waited for.
import { expect } from 'vitest';
import { readFigure } from '../page/support/shown.ts';
import type { Engine } from './engines.ts';

/** What a figure shows once it is drawn. */
export async function shown(engine: Engine, name: string) {
  await expect
    .poll(
      async () => {
        await engine.evaluate(
          (one: string) => document.querySelector(`superpose-figure[name="${one}"]`)?.scrollIntoView(),
          name,
        );
        const found = await engine.evaluate(readFigure, name);
        return Boolean(found?.drawn) && !found?.busy;
      },
      { timeout: 60_000, interval: 200, message: name },
    )
    .toBe(true);
  const found = await engine.evaluate(readFigure, name);
  if (!found) throw new Error(`There is no figure ${name}.`);
  return found;
}
