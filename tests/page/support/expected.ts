// What a figure must show, computed in Node by the library's own build. That the numbers are right is tested
// in tests/figures.
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Controls, State } from '../../../web/figures/controls.ts';
import { isDear } from '../../figures/shorter.ts';

type Headless = typeof import('../../../web/node/index.ts');

const folder = fileURLToPath(new URL('../../../build/', import.meta.url));
const headless: Headless = await import(
  /* @vite-ignore */ pathToFileURL(`${folder}package/node/index.js`).href
);

export const { initialState, toCsv, toJson, writeLink, readLink } = headless;
export const figures = headless.figures;
export const names = Object.keys(figures);
const render = headless.renderer(pathToFileURL(`${folder}model/`));

export interface Expected {
  rendered: Awaited<ReturnType<typeof render>>;
  finding: string;
  readout(cursor: { i: number; j: number }): string;
}

const flat = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The results of one figure at a time. */
let known = new Map<string, Promise<Expected>>();
let of: string | undefined;

/** The result for the state that a page says it is in. */
export function expected(name: string, state: Record<string, unknown>): Promise<Expected> {
  if (of !== name) known = new Map();
  of = name;
  const key = JSON.stringify(state);
  const found = known.get(key) ?? compute(name, state);
  known.set(key, found);
  return found;
}

async function compute(name: string, state: Record<string, unknown>): Promise<Expected> {
  const { controls } = figures[name] as Headless['figures'][string];
  const rendered = await render(name, headless.writtenState(controls, state as State));
  const { figure, data, state: settled } = rendered;
  return {
    rendered,
    finding: flat(figure.describe(data, settled)),
    readout: (cursor) =>
      flat(
        figure
          .readout(data, settled, cursor)
          .map((piece) => (typeof piece === 'string' ? piece : piece.text))
          .join(''),
      ),
  };
}

/** Builds differ in rounding, which shows only in numbers that are rounding error themselves. */
export const withoutRounding = (text: string): string =>
  text.replace(/−?\d\.\d\s×\s10⁻¹[²-⁹]|−?\d\.\d\s×\s10⁻¹[⁰¹]/g, '≈0');

/** A figure's settings, each changed once: the values each can take, as links write them. */
export function variations(name: string): [setting: string, values: string[]][] {
  const { controls, runs } = figures[name] as Headless['figures'][string];
  // Any change to a figure that trains takes a second or more, here and there: the ends of choices are
  // enough.
  const few = <T>(values: T[]): T[] => values.filter((_, k) => !runs || k === 0 || k === values.length - 1);
  return Object.entries(controls as Controls).map(([setting, control]): [string, string[]] => {
    switch (control.kind) {
      case 'choice':
        return [setting, few(Object.keys(control.options).filter((option) => option !== control.initial))];
      case 'range':
        return [setting, [control.min, control.max].map(String)];
      case 'steps': {
        const [least, most] = [control.values[0], control.values.at(isDear(name, setting) ? 1 : -1)];
        return [setting, (runs ? [most] : [least, most]).map(String)];
      }
      case 'toggle':
        return [setting, [control.initial ? 'no' : 'yes']];
      case 'several':
        return [setting, ['', Object.keys(control.options)[0] as string]];
      case 'seed':
        return [setting, ['4294967295']];
      default:
        return [setting, ['to be or not to be']];
    }
  });
}

/**
 * As few links as cover every variation of every setting: a link changes as many settings as can be combined.
 * Large values go with small ones, so that no link is much slower than another.
 */
export function links(name: string): Record<string, string>[] {
  const { controls } = figures[name] as Headless['figures'][string];
  const alone: Record<string, string>[] = [];
  const together: Record<string, string>[] = [];
  for (const [place, [setting, values]] of variations(name).entries()) {
    for (const text of place % 2 === 0 ? values : values.toReversed()) {
      const one = { [setting]: text };
      if (settles(name, one)) continue;
      // With nothing chosen, the other settings would have nothing to show.
      const empty = controls[setting]?.kind === 'several' && text === '';
      const link = empty
        ? undefined
        : together.find((other) => !(setting in other) && !settles(name, { ...other, ...one }));
      if (link) Object.assign(link, one);
      else (empty ? alone : together).push(one);
    }
  }
  return [...alone, ...together];
}

/** Whether settle() would change these settings. */
function settles(name: string, settings: Record<string, string>): boolean {
  const { controls, settle } = figures[name] as Headless['figures'][string];
  const asked = { ...initialState(controls), ...typed(name, settings) };
  return JSON.stringify(settle?.(asked as never, undefined) ?? asked) !== JSON.stringify(asked);
}

/** Settings as a link writes them, converted to values of a state. */
export const typed = (name: string, settings: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(settings).map(([setting, text]) => {
      const { kind } = (figures[name] as Headless['figures'][string]).controls[setting] as { kind: string };
      if (kind === 'toggle') return [setting, text === 'yes'];
      if (kind === 'several') return [setting, text === '' ? [] : text.split('.')];
      return [setting, ['range', 'steps', 'seed'].includes(kind) ? Number(text) : text];
    }),
  );
