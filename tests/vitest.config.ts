// Four parts: the typed API, the figures and the tools in Node; what of the API a browser does otherwise, in
// Chromium; the built page in Chromium, driven from Node; and the page in the other engines. A part is a
// project, or two where some of its files need a process each. The mode says how much runs: `all` every
// test; `quick` the library, the figures and where CONTRIBUTING's walk-throughs go, in Node, without what
// takes long; any other mode every file that is not called *.long.test.ts.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { chromiumOptions, chromiumPath } from '../tools/chromium.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** False only when the model's files are missing and CI is not true. */
    withModel: boolean;
  }
}

const root = resolve(import.meta.dirname, '..');
const inCi = process.env.CI === 'true';

/**
 * What a browser does otherwise than Node: it starts the module and fetches files. All else is the same
 * bytes in V8.
 */
const inChromium = ['figures', 'handles', 'module', 'model/minilm'].map((name) => `api/${name}`);

/** Relaxed SIMD in this Node: version 20 has it behind a flag, later ones by default. */
const relaxedSimdFlags =
  Number(process.versions.node.split('.')[0]) < 22 ? ['--experimental-wasm-relaxed-simd'] : [];

const withChromium = chromiumPath !== undefined || inCi;
if (!withChromium) console.log('There is no chromium on PATH, so the project `chromium` has no tests here.');

/** With CI=true the tests of the real model run whether it is there or not, and so fail without it. */
const withModel = inCi || existsSync(join(root, 'build/model/manifest.json'));

/** The files that take longest, so that none of them is left when all others are done. */
const longest = [
  'page/layout',
  'page/opened',
  'page/path',
  'page/present',
  'page/accessibility',
  'page/failures',
  'page/figures',
  'page/running',
  'engines/page',
  'engines/embeds',
  'tools/numpyOracles.long',
  'tools/contributing.long',
  'package/command',
  'tools/prose',
  'figures/recorded.long',
  'figures/userModel',
  'api/model/layers',
  'api/encodings/channelsOracle',
  'figures/trainingFigures',
  'api/model/layersOracle',
  'figures/language',
  'figures/recordedRuns',
  'figures/fourTasks',
];

/**
 * Files with a process of their own, because they look at what a process or its browser holds. So have those
 * that start programs, where nothing would be shared. All others go through one process after another, with
 * all that it has loaded and with its browser.
 */
const aloneInNode = [
  'api/memory',
  'api/model/checkpoint',
  'api/model/openTable',
  'api/recovery',
  'api/soak',
  'figures/badges',
  'worker/answers',
];
const aloneOnPage = ['page/userModelMemory'];

/**
 * Those of a project follow one another, for a process to go from one to the next. Those that wait most come
 * first.
 */
const order = ['page', 'page-alone', 'engines', 'node-alone', 'node'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.endsWith(`tests/${name}.test.ts`));
      return order.indexOf(project.name) * (longest.length + 1) + (place < 0 ? longest.length : place);
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/**
 * No test depends on a clock; these only end one that hangs. Vitest polls for a second, which a busy machine
 * may take.
 */
const hangs = 600_000;
const expectation = { poll: { timeout: 60_000 } };

const shared = {
  root,
  resolve: { alias: { 'add-or-concatenate': join(root, 'build/package/index.js') } },
};

const testsIn = (...folders: string[]) => folders.map((folder) => `tests/${folder}/**/*.test.ts`);
const files = (names: string[]) => names.map((name) => `tests/${name}.test.ts`);

const inNode = {
  testTimeout: hangs,
  hookTimeout: hangs,
  expect: expectation,
  execArgv: relaxedSimdFlags,
  provide: { withModel },
};

/** What `quick` leaves out: trained models, training, and what takes longest of the rest. */
const slow = [
  'api/encodings/channelsOracle',
  'api/model/*',
  'api/refusals',
  'api/training/*',
  'figures/addOrConcatenate',
  'figures/depth',
  'figures/fourTasks',
  'figures/keepApart',
  'figures/user*',
  'figures/overlap',
  'figures/schemesTasks',
  'fuzz/*',
];

const skipped = (mode: string) => [
  ...(mode === 'all' ? [] : ['tests/**/*.long.test.ts']),
  ...(mode === 'quick' ? files(slow) : []),
];

export default defineConfig(({ mode }) => ({
  root,
  test: {
    passWithNoTests: true,
    // What Vite made of a file is kept until the file changes: a run translates a thousand.
    experimental: { fsModuleCache: true, fsModuleCachePath: join(root, 'build/vite/modules') },
    // Vitest leaves a core for its own process, which hardly works.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...shared,
        test: {
          ...inNode,
          name: 'node',
          include: testsIn('api', 'figures', 'worker', 'fuzz'),
          exclude: [...skipped(mode), ...files(aloneInNode)],
          isolate: false,
        },
      },
      {
        ...shared,
        test: {
          ...inNode,
          name: 'node-alone',
          include:
            mode === 'quick'
              ? files(['tools/walkThroughs'])
              : [...testsIn('package', 'tools', 'soak'), ...files(aloneInNode)],
          exclude: skipped(mode),
          // TensorFlow.js, which the bench times: Node finds no modules without an extension.
          server: { deps: { inline: [/@tensorflow/] } },
        },
      },
      {
        ...shared,
        cacheDir: 'build/vite',
        test: {
          name: 'chromium',
          include: withChromium ? files(inChromium) : [],
          testTimeout: hangs,
          hookTimeout: hangs,
          expect: expectation,
          provide: { withModel },
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: chromiumOptions }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        ...shared,
        test: {
          name: 'page',
          ...inNode,
          include: withChromium ? testsIn('page', 'embed') : [],
          exclude: [...skipped(mode), ...files(aloneOnPage)],
          isolate: false,
        },
      },
      {
        ...shared,
        test: {
          name: 'page-alone',
          ...inNode,
          include: withChromium ? files(aloneOnPage) : [],
          exclude: skipped(mode),
        },
      },
      {
        ...shared,
        test: {
          name: 'engines',
          ...inNode,
          include: testsIn('engines'),
          exclude: skipped(mode),
        },
      },
    ],
  },
}));
