// Every figure, rendered once for the whole build: for the pictures that stand in for it, and for its page.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Carried } from '../../embed/carried.js';
import type { Placeholder, Rendered } from '../../node/index.js';

type Headless = typeof import('../../node/index.js');

const root = resolve(import.meta.dirname, '../../..');
const bundle = pathToFileURL(resolve(root, 'build/package/node/index.js')).href;
const model = pathToFileURL(`${resolve(root, 'build/model')}/`);

export interface MadeFigure {
  name: string;
  rendered: Rendered;
  carried: Carried | undefined;
  takesRest: boolean;
  /** With pictures in the folder pictures/. */
  placeholder: Placeholder;
}

const made = new Map<string, Promise<MadeFigure>>();

export const headless = (): Promise<Headless> => import(bundle);

/** Figures that can be rendered here: without the model's files some cannot. */
export async function figureNames(): Promise<string[]> {
  const { figures, initialState } = await headless();
  const withModel = existsSync(new URL('manifest.json', model));
  return Object.values(figures).flatMap(({ name, controls, source }) =>
    withModel || source(initialState(controls)) !== 'trained' ? [name] : [],
  );
}

export function madeFigure(name: string): Promise<MadeFigure> {
  const known = made.get(name) ?? make(name);
  made.set(name, known);
  return known;
}

/** The same in another state, without what stands in. */
export async function madeState(name: string, settings: [string, string][]) {
  const own: Headless = await import(`${bundle}?${name}-${new URLSearchParams(settings)}`);
  return { ...(await own.renderAndCarry(model, name, settings)), toSvg: own.toSvg };
}

async function make(name: string): Promise<MadeFigure> {
  // An instance of its own: figures remember what they have read, and then do not read it again.
  const own: Headless = await import(`${bundle}?${name}`);
  const { rendered, carried, takesRest } = await own.renderAndCarry(model, name);
  return {
    name,
    rendered,
    carried,
    takesRest,
    placeholder: await own.placeholder(rendered, './pictures/', name === 'sum'),
  };
}
