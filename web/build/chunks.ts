// How the page's code is cut into files. Each is compressed by itself, so twenty small files are a quarter
// larger than a few. Yet the first figure must not wait for anything that only later ones need.
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { beats } from './beats.js';

const root = realpathSync(resolve(import.meta.dirname, '../..'));

/** The ids of modules, by their files from the top of the checkout. */
export const idsOf = (files: readonly string[]): string[] =>
  files.map((file) => {
    // The API's modules are bundled as its compiler wrote them.
    const source = file.replace(/^build\/package\/(?!wasm\/)(.*)\.js$/, 'src/api/$1.ts');
    if (!existsSync(resolve(root, source)))
      throw new Error(
        `web/build/chunks.ts names ${source}, and there is no such file. Give it its new name there, or take it out.`,
      );
    return resolve(root, file);
  });
const inWeb = (folder: string, ...names: string[]) => names.map((name) => `web/${folder}/${name}.ts`);
const inApi = (...names: string[]) => names.map((name) => `build/package/${name}.js`);

const page = readFileSync(new URL('../index.html', import.meta.url), 'utf8');
/** A new file begins at each of these sections, counting those with figures. The last is the evidence, off the path. */
const starts = [0, 1, 2, 3, 7];

const fileOf = (name: string) => name.replace(/-./g, (dashed) => dashed.slice(1).toUpperCase());

/** A section's figures, those of its beat too. */
const figuresOf = (section: string): string[] =>
  [...section.matchAll(/<(superpose-figure|beat-stage) name="([^"]+)"/g)].flatMap(([, tag, name = '']) =>
    tag === 'superpose-figure'
      ? [name]
      : (beats.find(({ beat }) => beat === name)?.steps ?? []).map(({ figure }) => figure),
  );

/** The figures' files; chunks follow the order of the page. */
const figureFiles = page
  .split('<section ')
  .map(figuresOf)
  .filter((figures) => figures.length > 0)
  .map((figures, section): [chunk: string, files: string[]] => [
    `figures-${starts.filter((start) => start <= section).length}`,
    inWeb('figures', ...figures.map(fileOf)),
  ]);
const chunkWith = (figure: string) =>
  figureFiles.find(([, files]) => files.includes(`web/figures/${figure}.ts`))?.[0] ?? '';
const chunkOfSchemes = chunkWith('schemes');
const chunkOfEvidence = chunkWith('depth');

/** Files by their chunk; a later one takes a file from an earlier. A figure of two sections comes with the first. */
const pageFiles: [chunk: string, files: string[]][] = [
  ...figureFiles.toReversed(),
  // The first figure takes them too.
  ['figures-1', [...inWeb('figures', 'smallModels', 'tasks'), ...inWeb('element', 'running')]],
  // Parts that only figures of later sections share.
  [chunkOfSchemes, inWeb('figures', 'schemeTexts', 'formula', 'pairs', 'sinusoids')],
  [chunkOfEvidence, inWeb('figures', 'layersControl', 'wavelengths', 'written')],
  // Saving and embedding are loaded later.
  ['exports', [...inWeb('element', 'exports'), ...inWeb('page', 'embedBuilder', 'platforms', 'snippets')]],
  // All later figures of the path are one file: cut in two they are half a kilobyte more.
  [chunkOfSchemes, inWeb('figures', 'fourTasks', 'keepApart', 'schemesTasks', 'cells', 'trainers', 'turn')],
  // Few readers present.
  ['present', inWeb('page', 'present')],
  // Few readers open a model of their own. Tables are loaded later still.
  ['ownModel', [...inWeb('figures', 'ownModel', 'ownFigure'), ...inWeb('page', 'ownModel', 'ownFile')]],
  ['ownTable', [...inWeb('figures', 'ownTable'), ...inWeb('page', 'ownTable')]],
  // And what needs a corpus, or a rotation.
  ['ownMechanism', [...inWeb('figures', 'ownMechanism'), ...inWeb('page', 'ownMechanism')]],
];
const chunkOf = new Map(pageFiles.flatMap(([chunk, files]) => idsOf(files).map((id) => [id, chunk])));

/** Only those who present need it. */
const ofCodes = /\/node_modules\/lean-qr\//;
/** What figures share comes with the element, so each figure takes one more file and not a chain of them. */
const isShared = (id: string) =>
  /\/web\/(element|figures|plot|worker)\/.*(\.ts|\?inline)$|\/node_modules\//.test(id) &&
  !chunkOf.has(id) &&
  !ofCodes.test(id);

const importHelper = '\0vite/preload-helper.js';
const ofEmbed = new Set(
  idsOf([...inWeb('element', 'hostPage'), ...inWeb('worker', 'transports', 'siteWorker')]),
);

export const chunks = {
  groups: [
    // Also in embed.js, which sets where figures are and how they compute before the element is loaded.
    {
      name: 'transports',
      test: (id: string) => id === importHelper || ofEmbed.has(id) || id.endsWith('?worker&url'),
      priority: 2,
    },
    { name: 'figureElement', test: isShared, priority: 1 },
    { name: (id: string) => (ofCodes.test(id) ? 'present' : (chunkOf.get(id) ?? null)) },
  ],
};

const numeric = readdirSync(resolve(root, 'src/api/numeric')).map((file) => `numeric/${file.slice(0, -3)}`);
/** The library that a worker starts with, kept in one file although other chunks import parts of it. */
const ofFirst = [
  ...inApi('table', 'check', 'handle', 'files', 'factories', 'module', 'first', 'superpose', 'rest'),
  ...inApi('encodings/encodings', 'encodings/sinusoidal', 'geometry/directions'),
  ...inApi('model/safetensors', 'model/minilm', 'model/opening', ...numeric),
  ...inApi('scores/concatenate', 'scores/decompose', 'scores/dotProducts'),
  ...inApi('scores/scores', 'scores/gauge', 'scores/schemeTerms', 'wasm/superpose-second-plain'),
  ...inWeb('figures', 'sentence', 'gaugeControl', 'drawnRows', 'seededLayer'),
  ...inWeb('plot', 'parts', 'scale', 'format'),
];
/** What reads a reader's own file. One chunk is smaller than two, and tables need all of it. */
const ofOwn = inApi('model/checkpoint', 'model/digest', 'model/slices', 'model/openModel');
const among = (files: readonly string[]) => {
  const ids = new Set(idsOf(files));
  return (id: string) => ids.has(id);
};
const isOfFirst = among(ofFirst);
// No module that the worker imports dynamically is in a group: a file that exports more than the module does takes
// the bundler's runtime, which page and worker would both fetch. That costs a kilobyte.
export const workerChunks = {
  groups: [
    // What recorded runs need as well, so that they need no library, and what the first figure and later ones train with.
    {
      name: 'answers',
      test: among([...inWeb('worker', 'answers'), ...inWeb('figures', 'terms', 'tasks', 'trainers', 'turn')]),
      priority: 1,
    },
    { name: 'library', test: (id: string) => isOfFirst(id) || id.includes('/node_modules/d3-') },
    { name: 'ownModel', test: among(ofOwn) },
    // What path and evidence share: three files are larger.
    { name: 'cells', test: among(inWeb('figures', 'cells', 'heads', 'sinusoids')) },
  ],
};

const [second] = idsOf(inApi('second'));
/** Leaves out what no figure calls of the library: train(). */
export const withoutUnused: Plugin = {
  name: 'without-unused',
  enforce: 'pre',
  transform: (code, id) => (id === second ? code.replaceAll(/(?<=[[,] )trainApi, /g, '') : undefined),
};

/** When a file is imported, what it needs is already there, so Vite's preload helper has nothing to do. */
export const plainImports: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) => (id === importHelper ? 'export const __vitePreload = (load) => load()' : undefined),
};
