// Renders every figure once for the whole build: for its placeholder and for its page.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import type { ModelExcerpt } from '../../embed/modelExcerpt.js';
import { openingFigures } from '../../figures/opening.js';
import type { Placeholder, Rendered } from '../../node/index.js';
import { hasModel } from './modelFolder.js';

type Headless = typeof import('../../node/index.js');

const root = resolve(import.meta.dirname, '../../..');
const bundle = pathToFileURL(resolve(root, 'build/package/node/index.js')).href;
const model = pathToFileURL(`${resolve(root, 'build/model')}/`);

export interface RenderedFigure {
  name: string;
  rendered: Rendered;
  excerpt: ModelExcerpt | undefined;
  /** The markup and the pictures that stand in; the site has the pictures in its folder pictures/. */
  placeholder: Placeholder;
}

const renderedFigures = new Map<string, Promise<RenderedFigure>>();

const beats: { steps: { figure: string }[] }[] = JSON.parse(
  readFileSync(resolve(root, 'web/page/beats.json'), 'utf8'),
);
/** The figures that stand beside steps. A single step follows its figure, so that one does not. */
const besideNames = new Set(
  beats.flatMap(({ steps }) => (steps.length > 1 ? steps.map(({ figure }) => figure) : [])),
);

/** The width of a column beside a beat's steps in a wide window, in pixels. */
const besideSteps = 808;

export const headless = (): Promise<Headless> => import(bundle);

/** Returns the names of the figures that can be rendered here: some need the model's files. */
export async function figureNames(): Promise<string[]> {
  const { figures, initialState } = await headless();
  const withModel = hasModel();
  return Object.values(figures).flatMap(({ name, controls, source }) =>
    withModel || source(initialState(controls)) !== 'trained' ? [name] : [],
  );
}

/** Renders a figure in its first view, with its placeholder. */
export function renderFigure(name: string): Promise<RenderedFigure> {
  const rendered = renderedFigures.get(name) ?? render(name);
  renderedFigures.set(name, rendered);
  return rendered;
}

/** Renders a figure in another state, without a placeholder. */
export async function renderState(name: string, settings: [string, string][]) {
  return { ...(await compute(name, settings)), toSvg: (await headless()).toSvg };
}

/**
 * Returns a digest of everything that results depend on: the library, its modules, the figures and the
 * model.
 */
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

/** Memoizes `compute` in a file below build/ until the library, the figures or the model change. */
export async function memoize<Result>(
  key: readonly unknown[],
  compute: () => Promise<Result>,
): Promise<Result> {
  folder ??= folderFor(resolve(root, 'build/computed'), ingredients());
  const file = resolve(folder, createHash('sha256').update(JSON.stringify(key)).digest('hex'));
  if (existsSync(file)) return deserialize(readFileSync(file));
  const result = await compute();
  // Another process may read or write the same file.
  writeFileSync(`${file}.${process.pid}`, serialize(result));
  renameSync(`${file}.${process.pid}`, file);
  return result;
}

/** Makes the folder of a digest, and removes those of earlier digests. */
function folderFor(all: string, digest: string): string {
  mkdirSync(resolve(all, digest), { recursive: true });
  for (const name of readdirSync(all)) {
    if (name !== digest) rmSync(resolve(all, name), { recursive: true, force: true });
  }
  return resolve(all, digest);
}

/** Computes a figure, or reads what an earlier build computed: figures that train take most of a build. */
async function compute(name: string, settings: [string, string][] = []) {
  const key = ['site', name, settings];
  const { rendered, ...rest } = await memoize(key, async () => {
    // A new instance of the module, because figures memoize what they have read, and the excerpt records only
    // what is read anew.
    const instance: Headless = await import(`${bundle}?${JSON.stringify(key)}`);
    const result = await instance.renderWithExcerpt(model, name, settings);
    return { ...result, rendered: { ...result.rendered, figure: undefined } };
  });
  const { figures } = await headless();
  return { ...rest, rendered: { ...rendered, figure: figures[name] as Rendered['figure'] } };
}

async function render(name: string): Promise<RenderedFigure> {
  const { placeholder } = await headless();
  const { rendered, excerpt } = await compute(name);
  return {
    name,
    rendered,
    excerpt,
    placeholder: await placeholder(rendered, './pictures/', {
      first: openingFigures[name]?.early ?? false,
      column: besideNames.has(name) ? besideSteps : undefined,
    }),
  };
}
