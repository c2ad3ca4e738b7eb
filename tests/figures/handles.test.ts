// Whatever is dragged in a picture stays under the pointer, in every figure: where a grip is let go of, it
// sets the value for which the picture has the grip at that place, during the drag and after it.
import { expect, inject, test } from 'vitest';
import { type Control, nearestValue, type State } from '../../web/figures/controls.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import { figures } from '../../web/figures/index.ts';
import { computeOf } from '../../web/worker/answers.ts';
import { loaded, run, shorter } from './support.ts';

/**
 * How far the grip may be from the pointer, in pixels. The grip is 38 pixels wide, so the pointer stays on
 * it. It is not exact, because between the sizes for which a picture knows the angle, values are read off a
 * straight line.
 */
const within = 12;

/** A few values of a slider, and its ends. */
function valuesOf(control: Control): number[] {
  if (control.kind === 'steps') return [...control.values];
  if (control.kind !== 'range') return [];
  const { min, max } = control;
  return [0, 0.11, 0.34, 0.5, 0.77, 1].map(
    (part) => nearestValue(control, min + part * (max - min)) as number,
  );
}

const dragged: string[] = [];

test.runIf(inject('withModel')).each(Object.keys(figures))('%s', async (name) => {
  const figure = await (figures[name] as () => Promise<AnyFigure>)();
  const compute = await computeOf(name);
  if (!compute) throw new Error(`${name} cannot be computed.`);
  const start = await run({ figure, compute }, shorter[name]);
  const shown = async (setting: string, value: unknown) => {
    const changed = { ...start.state, [setting]: value } as State;
    const state = (figure.settle?.(changed, setting) ?? changed) as State;
    const job = { signal: new AbortController().signal, progress: () => {} };
    return { state, data: await compute(loaded, state as never, job) };
  };
  for (const width of [358, 1048]) {
    const { handles = [] } = figure.scene(start.data, start.state, width);
    for (const [place, { setting, size, at }] of handles.entries()) {
      const control = figure.controls[setting] as Control;
      for (const value of size ? [] : valuesOf(control)) {
        const where = `${setting} = ${value}, ${width} px wide`;
        const { data, state } = await shown(setting, value);
        const pointer = figure.scene(data, state, width, start).handles?.[place];
        // A value without a grip cannot be dropped anywhere.
        if (!pointer) continue;
        const set = nearestValue(control, at(pointer.x, pointer.y) as number);
        const after = set === state[setting] ? { data, state } : await shown(setting, set);
        for (const began of [start, undefined]) {
          const grip = figure.scene(after.data, after.state, width, began).handles?.[place];
          expect(Math.hypot((grip?.x ?? 0) - pointer.x, (grip?.y ?? 0) - pointer.y), where).toBeLessThan(
            within,
          );
        }
        dragged.push(name);
      }
    }
  }
});

test.runIf(inject('withModel'))('these figures have something to drag', () => {
  expect([...new Set(dragged)].sort()).toEqual(['add-or-concatenate', 'dot-products', 'oblique']);
});
