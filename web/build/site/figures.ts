// Every figure, rendered once for the whole build: for its placeholder and for its page.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import type { ModelExcerpt } from '../../embed/modelExcerpt.js';
import { openingFigures } from '../../figures/opening.js';
import type { Placeholder, Rendered } from '../../node/index.js';

type Headless = typeof import('../../node/index.js');

const root = resolve(import.meta.dirname, '../../..');
const bundle = pathToFileURL(resolve(root, 'build/package/node/index.js')).href;
const model = pathToFileURL(`${resolve(root, 'build/model')}/`);

export interface MadeFigure {
  name: string;
  rendered: Rendered;
  excerpt: ModelExcerpt | undefined;
  /** Its pictures are in the folder pictures/. */
  placeholder: Placeholder;
}

const made = new Map<string, Promise<MadeFigure>>();

const beats: { steps: { figure: string }[] }[] = JSON.parse(
  readFileSync(resolve(root, 'web/page/beats.json'), 'utf8'),
);
const beatNames = new Set(beats.flatMap(({ steps }) => steps.map(({ figure }) => figure)));

/** The width of a column beside a beat's steps in a wide window, in pixels. */
const besideSteps = 824;

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

/** The same in another state, without a placeholder. */
export async function madeState(name: string, settings: [string, string][]) {
  return { ...(await computed(name, settings)), toSvg: (await headless()).toSvg };
}

/** A digest of what figures are computed with: the library, its modules, the figures and the model. */
const ingredients = (): string => {
  const library = resolve(root, 'build/package');
  const hash = createHash('sha256');
  for (const file of readdirSync(library, { recursive: true, encoding: 'utf8' }).sort()) {
    if (/^(?!embed\/).*\.(js|wasm)$/.test(file))
      hash.update(file).update(readFileSync(resolve(library, file)));
  }
  const manifest = new URL('manifest.json', model);
  if (existsSync(manifest)) hash.update(readFileSync(manifest));
  return hash.digest('hex');
};
let folder: string | undefined;

/** What `compute` gives, kept below build/ for as long as all that it computes with is the same. */
export async function kept<Result>(
  asked: readonly unknown[],
  compute: () => Promise<Result>,
): Promise<Result> {
  folder ??= keptIn(resolve(root, 'build/computed'), ingredients());
  const file = resolve(folder, createHash('sha256').update(JSON.stringify(asked)).digest('hex'));
  if (existsSync(file)) return deserialize(readFileSync(file));
  const result = await compute();
  // Another process may read or write the same.
  writeFileSync(`${file}.${process.pid}`, serialize(result));
  renameSync(`${file}.${process.pid}`, file);
  return result;
}

/** A folder for this digest. Those of earlier ones go. */
function keptIn(all: string, digest: string): string {
  mkdirSync(resolve(all, digest), { recursive: true });
  for (const one of readdirSync(all)) {
    if (one !== digest) rmSync(resolve(all, one), { recursive: true, force: true });
  }
  return resolve(all, digest);
}

/** The figures that train take most of a build. */
async function computed(name: string, settings: [string, string][] = []) {
  const asked = ['site', name, settings];
  const { rendered, ...rest } = await kept(asked, async () => {
    // A fresh instance: figures remember what they have read, and would not read it again.
    const own: Headless = await import(`${bundle}?${JSON.stringify(asked)}`);
    const made = await own.renderWithExcerpt(model, name, settings);
    return { ...made, rendered: { ...made.rendered, figure: undefined } };
  });
  const { figures } = await headless();
  return { ...rest, rendered: { ...rendered, figure: figures[name] as Rendered['figure'] } };
}

async function make(name: string): Promise<MadeFigure> {
  const { placeholder } = await headless();
  const { rendered, excerpt } = await computed(name);
  return {
    name,
    rendered,
    excerpt,
    placeholder: await placeholder(rendered, './pictures/', {
      first: openingFigures[name]?.early ?? false,
      column: openingFigures[name]?.column ?? (beatNames.has(name) ? besideSteps : undefined),
    }),
  };
}
