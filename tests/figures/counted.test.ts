// Singular and plural agree: no sentence of a figure contains "1 directions", at either end of its settings.
import { expect, inject, test } from 'vitest';
import { readState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure, ReadoutPiece } from '../../web/figures/figure.ts';
import { figures } from '../../web/figures/index.ts';
import { computeOf } from '../../web/worker/computes.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { shorter } from './shorter.ts';

/** A 1 that counts something: not part of a longer number, nor the second of two that share a noun. */
const one = String.raw`(?<!\band |[\d.,^=≈×−–-] ?)\b1 `;
/** A plural noun after it, with up to two words in between. */
const many = new RegExp(
  `${one}(?:(?!(?:for|of|in|at|on|is|to|with) )[a-z]+ ){0,2}[a-z]{2,}(?<!s|thi|i|wa|les|look)s\\b`,
);
/** A plural verb. */
const agrees = new RegExp(`${one}(?:[a-z]+ |of [\\d,]+ [a-z]+ )?(?:hold|are|have|move|attend|stand|vary)\\b`);

test.each(['The 1 directions in which', '1 mean position rows moved', 'all the same: 1 tokens.'])(
  '%s: is found',
  (said) => expect(said).toMatch(many),
);
test.each(['The first 1 hold', '1 of 512 channels move', '1 are shared'])('%s: is found', (said) =>
  expect(said).toMatch(agrees),
);
test.each([
  '1 dimension for tokens',
  '1.1 times',
  'of 1 and 1 dimensions',
  'place 1 is',
  'it is 1 at most, less',
  'width 1 as well',
])('%s: is no plural', (said) => expect(said).not.toMatch(many));

const textOf = (said: ReadoutPiece[]) =>
  said.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');

/** Figures that train models: the ends of their settings take seconds, so their first settings must do. */
const trains = (name: string) => name in shorter || name === 'four-tasks' || name === 'keep-apart';

/** The numeric settings, at one end. */
function ends(figure: AnyFigure, end: 'smallest' | 'largest'): [string, number][] {
  return Object.entries(figure.controls as Record<string, { kind: string }>).flatMap(([name, control]) => {
    if (control.kind === 'range') {
      const { min, max } = control as unknown as { min: number; max: number };
      return [[name, end === 'smallest' ? min : max] as [string, number]];
    }
    if (control.kind !== 'steps') return [];
    const { values } = control as unknown as { values: number[] };
    return [[name, values.at(end === 'smallest' ? 0 : -1) as number] as [string, number]];
  });
}

function statesOf(figure: AnyFigure): State[] {
  const { state } = readState(figure.controls, Object.entries(shorter[figure.name] ?? {}));
  const first = state as State;
  if (trains(figure.name)) return [first];
  const choices = Object.entries(figure.controls as Record<string, { kind: string }>).flatMap(
    ([name, control]) =>
      control.kind === 'choice' && name !== 'layers'
        ? Object.keys((control as unknown as { options: object }).options).map((option) => ({
            [name]: option,
          }))
        : [],
  );
  const alone = ends(figure, 'smallest').map(([name, value]) => ({ [name]: value }));
  const smallest = Object.fromEntries(ends(figure, 'smallest'));
  const all = [{}, ...choices].map((choice) => ({ ...choice, ...smallest }));
  const largest = Object.fromEntries(ends(figure, 'largest'));
  const found = [{}, ...alone, ...all, largest].map((change) => ({ ...first, ...change }) as State);
  return found.map((one) => (figure.settle?.(one, undefined) ?? one) as State);
}

const loaded = { ...library(), recorded };

test.runIf(inject('withModel')).each(Object.keys(figures))('%s', async (name) => {
  const figure = await (figures[name] as () => Promise<AnyFigure>)();
  const compute = await computeOf(name);
  for (const state of statesOf(figure)) {
    const job = { signal: new AbortController().signal, progress: () => {} };
    const data = await compute?.(loaded, state as never, job);
    const { rows, columns } = figure.cells(data, state);
    const first = figure.firstCursor?.(data, state) ?? { i: 0, j: 0 };
    const cursors = [first, { i: 0, j: 0 }, { i: rows - 1, j: columns - 1 }];
    const said = [
      figure.describe(data, state),
      ...cursors.map((at) => textOf(figure.readout(data, state, at))),
    ];
    for (const sentence of said) {
      expect(sentence, JSON.stringify(state)).not.toMatch(many);
      expect(sentence, JSON.stringify(state)).not.toMatch(agrees);
    }
  }
});
