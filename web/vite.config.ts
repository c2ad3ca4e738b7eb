import { copyFileSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, defineConfig, type Plugin } from 'vite';
import { answerBox } from './build/answer.js';
import { beatStages } from './build/beats.js';
import { noticeCollector } from './build/notices.js';
import { palette } from './build/palette.js';
import { linksAcrossPages, pageFolders, placesElsewhere } from './build/places.js';
import {
  indents,
  independent,
  maths,
  onlyHalf,
  ownProperties,
  readResults,
  smaller,
  unbrokenNumbers,
} from './build/plugins.js';
import { publishedResults } from './build/published.js';
import { siteAddress } from './build/site/address.js';
import { demo } from './build/site/demo.js';
import { figurePages } from './build/site/figurePages.js';
import { hostedPage, hosting } from './build/site/hosting.js';
import { hasModel, modelAddress, modelFiles } from './build/site/modelFolder.js';
import { placeholders } from './build/site/placeholders.js';
import { reference } from './build/site/reference.js';
import { sources } from './build/site/sources.js';
import { verdictTable } from './build/verdicts.js';

const here = import.meta.dirname;
const dist = resolve(here, '../dist');
// A wrong address is refused here, before what is in dist/ is touched.
siteAddress();

const { version } = JSON.parse(readFileSync(resolve(here, '../package.json'), 'utf8'));
const notices = noticeCollector();
const alias = { 'add-or-concatenate': resolve(here, '../build/package/index.js') };

const thirdParty = (): Plugin => ({
  name: 'third-party',
  apply: 'build',
  writeBundle() {
    notices.write(resolve(dist, 'THIRD-PARTY.txt'), {
      others: ['@fontsource-variable/source-sans-3'],
      // Frames carry a part of it, even where dist/ has no files of it.
      withModel: hasModel(),
    });
  },
});

/** The same file under an address that a later version leaves alone. */
const versionedEmbed = (): Plugin => ({
  name: 'versioned-embed',
  apply: 'build',
  writeBundle: () => copyFileSync(resolve(dist, 'embed.js'), resolve(dist, `embed-${version}.js`)),
});

/**
 * A classic script in one file: the page around a frame need send it no CORS header, and none of its names
 * are global.
 */
const resizeScript = (): Plugin => ({
  name: 'resize-script',
  apply: 'build',
  async writeBundle() {
    await build({
      configFile: false,
      root: here,
      publicDir: false,
      logLevel: 'warn',
      build: {
        outDir: dist,
        emptyOutDir: false,
        target: 'es2022',
        rollupOptions: {
          input: resolve(here, 'embed/resize.ts'),
          output: { format: 'iife', entryFileNames: 'resize.js' },
        },
      },
    });
  },
});

/**
 * d3-array is one file and makes functions when it is loaded; those that nobody uses may go. So may a figure
 * in a worker, which computes and does not draw, though a part of it is made by a call. Nobody but the page
 * calls its copy of the library, and tests compute every figure in Node, where an unknown option is refused:
 * here the check may go.
 */
const treeshake = {
  manualPureFunctions: [
    'bisector',
    'Blur2',
    'shuffler',
    'labelled',
    'initialState',
    'knownOptions',
    'check.knownOptions',
  ],
  propertyReadSideEffects: false,
} as const;

/** Vite drops a worker's exports; a page that may start no worker imports them. */
const exportsOfWorker: Plugin = {
  name: 'exports-of-worker',
  options: (options) => ({ ...options, preserveEntrySignatures: 'exports-only' }),
};

// `unsafe` takes built-in functions to be the language’s own. It must not evaluate: it would take a member
// that is set elsewhere for a constant.
const smallestOfWorker = smaller({
  pure_getters: true,
  keep_fargs: false,
  unsafe_symbols: true,
  unsafe: true,
  evaluate: false,
  unsafe_arrows: true,
});

const smallest = smaller({
  pure_getters: true,
  keep_fargs: false,
  unsafe_symbols: true,
  builtins_pure: true,
  unsafe_arrows: true,
});

export default defineConfig({
  root: here,
  // Relative addresses, so that the site works from any folder of any server.
  base: './',
  resolve: { alias },
  // Without Node, what the library does there alone is left out.
  define: {
    __SUPERPOSE_VERSION__: JSON.stringify(version),
    __SUPERPOSE_MODEL__: JSON.stringify(modelAddress()),
    __SUPERPOSE_PLACES__: JSON.stringify(placesElsewhere()),
    process: 'undefined',
  },
  worker: {
    format: 'es',
    plugins: () => [
      onlyHalf('compute'),
      readResults(),
      notices.plugin(),
      exportsOfWorker,
      ownProperties(),
      smallestOfWorker,
    ],
    // Notes for bundlers, which see no file of the site again.
    rollupOptions: {
      treeshake,
      output: {
        comments: false,
        // What figures that train share: compressed by itself, each of these small files would be a tenth
        // larger.
        codeSplitting: {
          groups: [
            // What everything needs, or it would be fetched with the code that trains.
            { name: 'plainCopy', test: /\/plot\/plainCopy\.ts$/, priority: 1 },
            {
              name: 'training',
              test: /\/figures\/runs\/\w+\.ts$/,
            },
          ],
        },
      },
    },
  },
  build: {
    outDir: dist,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_, files, { hostType }) => (hostType === 'html' ? files : []),
    },
    rollupOptions: {
      treeshake,
      transform: independent,
      input: {
        ...Object.fromEntries(
          pageFolders.map((folder) => [folder.slice(0, -1) || 'index', resolve(here, folder, 'index.html')]),
        ),
        embed: resolve(here, 'embed/embed.ts'),
        filter: resolve(here, 'page/filter.ts'),
      },
      output: {
        comments: false,
        // One address for all time; the rest are named by what is in them.
        entryFileNames: ({ name }) => (name === 'embed' ? 'embed.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
  plugins: [
    onlyHalf('figure'),
    palette(),
    maths(),
    publishedResults(),
    answerBox(),
    beatStages(),
    verdictTable(),
    linksAcrossPages(),
    unbrokenNumbers(),
    indents(),
    ownProperties(),
    smallest,
    notices.plugin(),
    modelFiles(dist),
    placeholders(dist, version),
    figurePages(dist),
    versionedEmbed(),
    resizeScript(),
    reference(dist),
    sources(dist),
    demo(dist, version),
    thirdParty(),
    hostedPage(version),
    hosting(dist),
  ],
});
