// How the page's code is cut into files. Each is compressed by itself, so twenty small files are a quarter
// larger than a few. Yet the first figure must not wait for anything that only later ones need.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { beats } from './beats.js';

const page = readFileSync(new URL('../index.html', import.meta.url), 'utf8');
/** A new file begins at each of these sections, counting those with figures. */
const starts = [0, 1, 2, 3];

const fileOf = (name: string) => name.replace(/-./g, (dashed) => dashed.slice(1).toUpperCase());

/** A section's figures, those of its beat too. */
const figuresOf = (section: string): string[] =>
  [...section.matchAll(/<(superpose-figure|beat-stage) name="([^"]+)"/g)].flatMap(([, tag, name = '']) =>
    tag === 'superpose-figure'
      ? [name]
      : (beats.find(({ beat }) => beat === name)?.steps ?? []).map(({ figure }) => figure),
  );

/** The chunk of each figure's file; chunks follow the order of the page. */
const chunkOf = new Map(
  page
    .split('<section ')
    .map(figuresOf)
    .filter((figures) => figures.length > 0)
    .flatMap((figures, section) => {
      const part = starts.filter((start) => start <= section).length;
      return figures.map((name): [string, string] => [fileOf(name), `figures-${part}`]);
    }),
);

// The first figure takes them too.
for (const name of ['tasks', 'running']) chunkOf.set(name, 'figures-1');

// Parts that only figures of later sections share.
for (const name of ['schemeTexts', 'formula', 'pairs', 'layersControl', 'sinusoids'])
  chunkOf.set(name, chunkOf.get('schemes') ?? '');

// Saving and embedding are loaded later.
chunkOf.set('exports', 'exports');
const ofEmbedding = /\/web\/page\/(embedBuilder|places|snippets)\.ts$/;

/** What only figures need that run while they are watched. */
for (const name of [
  ...['fourTasks', 'keepApart', 'narrow', 'schemesTasks', 'longer'],
  ...['cells', 'trainers', 'turn'],
])
  chunkOf.set(name, 'training');

// Few readers open a model of their own. Tables are loaded later still.
const ofCard = /\/web\/page\/own(Model|File)\.ts$/;
for (const name of ['ownModel', 'ownFigure']) chunkOf.set(name, 'ownModel');
chunkOf.set('ownTable', 'ownTable');

const figureOf = (id: string) => id.match(/\/web\/(?:figures|element)\/(\w+)\.ts$/)?.[1] ?? '';
/** What figures share comes with the element, so each figure takes one more file and not a chain of them. */
const isShared = (id: string) =>
  /\/web\/(element|figures|plot|worker)\/.*(\.ts|\?inline)$|\/node_modules\//.test(id) &&
  !chunkOf.has(figureOf(id));

const importHelper = '\0vite/preload-helper.js';
const isOfEmbed = (id: string) =>
  id === importHelper || /\/web\/(element\/place|worker\/(ways|siteWorker))\.ts$|\?worker&url$/.test(id);

export const chunks = {
  groups: [
    // Also in embed.js, which sets where figures are and how they compute before the element is loaded.
    { name: 'ways', test: isOfEmbed, priority: 2 },
    { name: 'figureElement', test: isShared, priority: 1 },
    { name: 'exports', test: ofEmbedding },
    { name: (id: string) => (ofCard.test(id) ? 'ownModel' : (chunkOf.get(figureOf(id)) ?? null)) },
  ],
};

/** The library that a worker starts with, kept in one file although other chunks import parts of it. */
const ofFirst =
  /\/build\/package\/((table|check|handle|files|factories|module|first|superpose|encodings\/(encodings|sinusoidal)|geometry\/directions|model\/(safetensors|minilm|opening)|numeric\/\w+|scores\/(concatenate|decompose|decompositionLayer|dotProducts|scores|gauge|schemeTerms))\.js|wasm\/superpose-plain\.js)$|\/web\/(figures\/(sentence|gaugeControl|drawnRows)|plot\/(parts|scale|format))\.ts$|\/node_modules\/d3-/;
/** What reads a reader's own file. One chunk is smaller than two, and tables need all of it. */
const ofOwn = /\/build\/package\/model\/(checkpoint|digest|slices|openModel)\.js$/;
// No module that the worker imports dynamically is in a group: a file that exports more than the module does takes
// the bundler's runtime, which page and worker would both fetch.
export const workerChunks = {
  groups: [
    // What recorded runs need as well, so that they need no library.
    { name: 'answers', test: /\/web\/(worker\/answers|figures\/terms)\.ts$/, priority: 1 },
    // The first figure and later ones train with these.
    { name: 'trainers', test: /\/web\/figures\/(tasks|trainers|turn)\.ts$/, priority: 1 },
    { name: 'library', test: ofFirst },
    { name: 'ownModel', test: ofOwn },
  ],
};

/** When a file is imported, what it needs is already there, so Vite's preload helper has nothing to do. */
export const plainImports: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) => (id === importHelper ? 'export const __vitePreload = (load) => load()' : undefined),
};
