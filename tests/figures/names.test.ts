// Rules for the names of every figure's settings, so that links and attributes can hold them.
import { expect, test } from 'vitest';
import { figures } from '../../web/figures/index.ts';
import { computeOf } from '../../web/worker/computes.ts';

test.each(Object.keys(figures))('%s: its settings can stand in links and attributes', async (name) => {
  const figure = await (figures[name] as (typeof figures)[string])();
  expect(figure.name).toBe(name);
  expect(await computeOf(name)).toBeTypeOf('function');
  for (const setting of Object.keys(figure.controls)) {
    // These names belong to the link itself and to the element.
    expect(['v', 'figure', 'name', 'theme', 'id', 'class', 'style', 'title', 'hidden']).not.toContain(
      setting,
    );
    // As CONTRIBUTING.md spells options: a width is d_ and a noun.
    expect(setting).toMatch(/^(d(_[a-z]+)+|[a-z][a-zA-Z0-9]*)$/);
  }
});
