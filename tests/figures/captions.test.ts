// Each figure's caption: a finding of about eight words, which stands out, and then its numbers.
import { expect, inject, test } from 'vitest';
import { captionOf } from '../../web/figures/caption.ts';
import { figures } from '../../web/figures/index.ts';
import { computeOf } from '../../web/worker/computes.ts';
import { run } from './support.ts';

/** Further pictures of figures that have several. */
const others: [string, Record<string, string>][] = [
  ['collisions', { of: 'one' }],
  ['sum', { of: 'channels' }],
  ['gauge', { of: 'parts' }],
  ['gram', { of: 'shift' }],
  ['overlap', { of: 'subspaces' }],
  ['overlap', { of: 'vectors' }],
  ['encoding', { of: 'base' }],
  ['needs-positions', { view: 'taken' }],
  ['one-score', { weights: 'seeded', tables: 'yes' }],
];
const views = [...Object.keys(figures).map((name) => [name, {}] as (typeof others)[number]), ...others];

test.runIf(inject('withModel')).each(views)('%s %o says first what is found', async (name, settings) => {
  const figure = await figures[name]?.();
  const compute = await computeOf(name);
  if (!figure || !compute) throw new Error(`There is no figure ${name}.`);
  const { data, state } = await run({ figure, compute }, settings);
  const [head, rest] = captionOf(figure.describe(data, state));
  expect(head).toMatch(/^\S+\s.+[.!?]$/);
  expect(rest).not.toBe('');
});
