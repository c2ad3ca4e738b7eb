// Numbers of a model's rows depend on a vector that can move from one table to the other. So lengths,
// products and cosines are called raw, and shares name their gauge, in words and in every table.
import { describe, expect, inject, test } from 'vitest';
import { initialState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure, DataTable } from '../../web/figures/figure.ts';
import { figures } from '../../web/figures/index.ts';
import { computeOf } from '../../web/worker/computes.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';

const names = /\braw\b|\bcanonical\b/i;

/** Figures that no such vector affects: they show whole states of a sentence. */
const ofWholeStates = ['needs-positions'];

/**
 * Every choice that makes a figure show a model's numbers; layers that must be fetched are tested elsewhere.
 */
function trainedStates(figure: AnyFigure): State[] {
  const first = initialState(figure.controls) as State;
  const all = Object.entries(figure.controls).flatMap(([name, control]) =>
    (control as { kind: string }).kind === 'choice' && name !== 'layers'
      ? Object.keys((control as { options: object }).options).map((option) => ({ ...first, [name]: option }))
      : [],
  );
  const settled = [first, ...all].map((state) => (figure.settle?.(state, undefined) ?? state) as State);
  const shown = settled.filter((state) => ['trained', 'mixed'].includes(figure.source(state)));
  return [...new Map(shown.map((state) => [JSON.stringify(state), state])).values()];
}

const inWords = ({ columns, rows }: DataTable) => [...columns, ...rows.slice(0, 40).flat()].join(' ');

describe.runIf(inject('withModel'))('of a model', () => {
  const loaded = { ...library(), recorded };
  test('each figure is among these or is of no model', async () => {
    const found: string[] = [];
    for (const [name, load] of Object.entries(figures))
      if (trainedStates(await load()).length > 0) found.push(name);
    expect(found).toEqual(expect.arrayContaining(['overlap', 'heads', 'depth', 'collisions', 'sum']));
    for (const name of ofWholeStates) expect(found).toContain(name);
  });

  test.each(Object.keys(figures).filter((name) => !ofWholeStates.includes(name)))('%s', async (name) => {
    const figure = await (figures[name] as () => Promise<AnyFigure>)();
    const compute = await computeOf(name);
    for (const state of trainedStates(figure)) {
      const job = { signal: new AbortController().signal, progress: () => {} };
      const data = await compute?.(loaded, state as never, job);
      const where = JSON.stringify(state);
      const drawn = figure.scene(data, state, 900).marks;
      const picture = drawn.map((mark) => (mark.mark === 'text' ? mark.text : '')).join(' ');
      expect(`${figure.describe(data, state)} ${picture}`, where).toMatch(names);
      expect(inWords(figure.table(data, state)), where).toMatch(names);
    }
  });
});
