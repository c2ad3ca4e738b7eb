// The contents of dist/ besides the page: the reference, the notices, the files for hosts, the demo.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as api from 'add-or-concatenate';
import { expect, inject, test, vi } from 'vitest';
import { methodExamples } from '../../docs/examples.mjs';
import { pageFolders } from '../../web/build/places.ts';
import { unbroken, withoutIndents } from '../../web/build/plugins.ts';
import { declarations } from '../../web/build/site/declarations.ts';
import { modelAddress } from '../../web/build/site/modelFolder.ts';
import { firstSentence, groups } from '../../web/build/site/reference.ts';
import { type SinglePageParts, singlePage } from '../../web/build/site/singlePage.ts';
import { figures } from '../../web/figures/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'dist');
const read = (file: string, folder = dist) => readFileSync(join(folder, file), 'utf8');
const withModel = inject('withModel');

const { entries, exported, needed } = declarations(Object.keys(groups));

test('every name that the package gives out, and every function of load(), is in a group of the reference', async () => {
  const superpose = await api.load();
  const names = [...Object.keys(superpose), ...Object.keys(api)];
  expect(names.filter((name) => !entries.some(({ id, group }) => id === name && group in groups))).toEqual(
    [],
  );
  const ids = entries.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  // The reference has no internals.
  for (const name of ['number', 'check', 'Raw', 'Loaded', 'loadModule', 'sinusoidalApi', 'SinusoidalApi'])
    expect([...ids, ...exported, ...needed]).not.toContain(name);
});

test('a type is exported if and only if a signature names it or it stands in a group by itself', () => {
  const standing = entries.map(({ id }) => id);
  expect(needed.filter((name) => !exported.includes(name) && !standing.includes(name))).toEqual([]);
  expect(exported.filter((name) => !needed.includes(name) && !standing.includes(name))).toEqual([]);
});

test('the reference says in one sentence what each function is for, and has it in full with its types and an example', () => {
  const page = read('api/index.html');
  const sections = new Map(
    [...page.matchAll(/<section class="entry" data-entry="([\w.[\]]+)"[^>]*>([\s\S]*?)<\/section>/g)].map(
      ([, id, text]) => [id, text ?? ''],
    ),
  );
  expect([...sections.keys()]).toEqual(entries.map(({ id }) => id));
  for (const { id, kind, doc, types } of entries) {
    expect(firstSentence(doc), id).toMatch(/^(?!See )[A-Z].* .*[^.]\.$/);
    const section = sections.get(id) as string;
    for (const { name } of types) expect(section, id).toContain(`<div class="type" id="${name}">`);
    if (kind === 'function' && !['simd', 'memoryBytes'].includes(id))
      expect(section, id).toMatch(/<p>Example: [\s\S]*<pre class="answer">.*\S.*<\/pre>/);
  }
  expect(sections.get('sinusoidal')).toContain(
    `, ${Math.sin(1).toPrecision(6)}, ${Math.cos(1).toPrecision(6)},`,
  );
  const anchors = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(anchors).size).toBe(anchors.length);
  const links = [...page.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
  expect(links.filter((id) => !anchors.includes(id))).toEqual([]);
  expect(page).toContain('<a href="#OpenedModel.decompose">OpenedModel.decompose()</a>');
  const named = (methodExamples as { name: string }[]).map(({ name }) => name);
  expect(named.filter((name) => !sections.has(name))).toEqual([]);
});

test.runIf(withModel)('examples of the model show what it returns', async () => {
  const page = read('api/index.html');
  const answers = [...page.matchAll(/<pre class="example">[\s\S]*?<pre class="answer">(.*)<\/pre>/g)];
  const answerOf = (part: string) => answers.find(([text]) => text.includes(part))?.[1] ?? '';
  const weights =
    answerOf('pass.attention(3)')
      .match(/weights: \[(.*)\]/)?.[1]
      ?.split(', ')
      .map(Number) ?? [];
  expect(weights).toHaveLength(9);
  expect(weights.reduce((sum, weight) => sum + weight)).toBeCloseTo(1, 4);
  expect(answerOf('model.tokenize(')).toContain('tokens: [[CLS], the, cat, sat, on, the, mat, ., [SEP]]');
});

test.each(pageFolders)('each section of the page /%s links to its code, shown unchanged', (folder) => {
  const page = read(`${folder}index.html`);
  const named = [...page.matchAll(/<code>((?:src|web)\/[\w/]+\.(?:cpp|ts))<\/code>/g)];
  const linked = [
    ...page.matchAll(
      /<a href="\.{1,2}\/(source\/[^"]+)\.html"><code>((?:src|web)\/[\w/]+\.(?:cpp|ts))<\/code><\/a>/g,
    ),
  ];
  expect(linked.map(([, , file]) => file)).toEqual(named.map(([, file]) => file));
  // The text before the first section is the opening.
  const sections = page
    .split('<section ')
    .slice(1)
    .filter((section) => section.includes('<superpose-figure '));
  for (const section of sections) expect(section).toMatch(/href="\.{1,2}\/source\//);
  const text = (html: string) =>
    html
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&quot;/g, '"')
      .replace(/&#39;/g, "'")
      .replace(/&amp;/g, '&');
  for (const [, address = '', file = ''] of linked) {
    expect(address).toBe(`source/${file}`);
    const shown = [...read(`${address}.html`).matchAll(/<pre><code>([\s\S]*?)<\/code><\/pre>/g)];
    expect(text(shown.at(-1)?.[1] ?? '')).toBe(read(file, root));
  }
});

test('numbers stay with their units and their signs', () => {
  expect(unbroken('<p title="9 %">89 % at <var>d</var> = 8 and √k₁ = 3, 8.1 × 10⁻⁵; x = y, 2 × 3</p>')).toBe(
    '<p title="9 %">89\u202f% at <var>d</var>\u00a0=\u00a08 and √k₁\u00a0=\u00a03, 8.1\u00a0×\u00a010⁻⁵; x = y, 2 × 3</p>',
  );
  expect(read('evidence/index.html')).toContain('<var>d</var>\u00a0=\u00a064');
});

test('the notices name everything bundled, each with its licence', () => {
  for (const folder of [dist, join(root, 'build/package')]) {
    const notices = read('THIRD-PARTY.txt', folder);
    for (const name of ['Eigen 5', 'Emscripten', 'musl', 'd3-array']) {
      expect(notices).toContain(name);
    }
    // The MIT licence demands its text, with the copyright holder.
    for (const holder of [
      'Copyright (c) 2010-2014 Emscripten authors',
      'Copyright © 2005-2020 Rich Felker',
    ]) {
      const after = notices.slice(notices.indexOf(holder)).replace(/\s+/g, ' ');
      expect(after.slice(0, 1200), holder).toContain('Permission is hereby granted, free of charge');
      expect(after.slice(0, 1200), holder).toContain('THE SOFTWARE IS PROVIDED "AS IS"');
    }
    expect(notices).not.toMatch(/\bvite(st)? \d|No licence text/);
  }
  expect(read('THIRD-PARTY.txt')).toContain('lit-html');
});

test.runIf(withModel)('the weights are said to be whose they are, with their own licence', () => {
  const notices = read('THIRD-PARTY.txt').split(`\n${'-'.repeat(80)}\n`);
  const weights = notices.filter((notice) => notice.includes('MiniLM'));
  expect(weights).toHaveLength(1);
  for (const text of [weights[0] as string, read('model/LICENSE')]) {
    expect(text).toContain('all-MiniLM-L6-v2, its weights and its tokenizer, by sentence-transformers');
    expect(text).toContain('Apache License\n                           Version 2.0, January 2004');
    expect(text).toContain('END OF TERMS AND CONDITIONS');
    expect(text).not.toContain('MIT');
  }
  expect(weights[0]).toContain('Licence: Apache-2.0');
});

test('a page in one file names what it contains, the licences, and where to read them', () => {
  const [, notice = ''] = read('figures/dot-products/index.html').match(/<body>\n +<!-- (.*) -->\n/) ?? [];
  for (const part of [
    'Superpose, MIT, Copyright (c) 2026 The Superpose authors.',
    'Eigen 5, MPL-2.0, gitlab.com/libeigen/eigen;',
    'musl, Copyright © 2005-2020 Rich Felker, et al., MIT;',
    'LLVM libc++, libc++abi and compiler-rt, Apache-2.0 WITH LLVM-exception;',
    'all-MiniLM-L6-v2, Apache-2.0',
  ])
    expect(notice).toContain(part);
  expect(notice).toMatch(/Emscripten runtime, Copyright \(c\) 2010-2014 Emscripten authors, .*?MIT;/);
  expect(notice).toMatch(/d3-array [\d.]+, Copyright .*? Mike Bostock, ISC/);
  expect(notice).toMatch(/lit-html [\d.]+, Copyright \(c\) \d+ Google LLC, BSD-3-Clause/);
  expect(notice).toMatch(/\.\.\/\.\.\/THIRD-PARTY\.txt$/);
  // Every holder has a licence.
  const holders = notice.split('; ');
  expect(holders.every((holder) => /MIT|BSD|ISC|Apache-2\.0|MPL-2\.0/.test(holder))).toBe(true);
  expect(notice.length).toBeLessThan(1500);
});

test('each figure has its page, in one file', () => {
  const expected = Object.keys(figures).filter((name) => withModel || name === 'dot-products');
  const folders = readdirSync(join(dist, 'figures'));
  for (const name of withModel ? expected : ['dot-products']) {
    expect(folders).toContain(name);
    const page = read(`figures/${name}/index.html`);
    expect(page.match(/<(script|img|link|source|iframe)[^>]* (src|href|srcset)="(?!data:)/g)).toBeNull();
    expect(page.match(/<style>[^<]*url\(/g)).toBeNull();
    expect(page.slice(0, 2000)).toMatch(/<title>[^<]+ · Superpose<\/title>/);
    expect(page.slice(0, 2000)).toMatch(/<meta name="description" content="[^"]{20,}"/);
  }
});

test('every host’s file has the headers of all files, and of figures', () => {
  const everywhere = [
    ['Access-Control-Allow-Origin', '*'],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['X-Content-Type-Options', 'nosniff'],
  ] as const;
  const framed = ['Cross-Origin-Embedder-Policy', 'require-corp'] as const;
  // For Netlify and Cloudflare: a pattern, then its headers.
  const blocks = new Map(
    read('_headers')
      .split(/^(?=\/)/m)
      .map((block) => [block.split('\n')[0], block.matchAll(/^ {2}([\w-]+): (.+)$/gm)] as const)
      .map(([pattern, headers]) => [pattern, [...headers].map(([, name, value]) => [name, value])]),
  );
  expect([...blocks.keys()]).toEqual(['/*', '/figures/*', '/assets/*']);
  expect(blocks.get('/*')).toEqual(everywhere);
  expect(blocks.get('/figures/*')).toEqual([framed]);
  // For Apache: one file per folder.
  const apache = (file: string) =>
    [...read(file).matchAll(/^ {2}Header set ([\w-]+) "(.+)"$/gm)].map(([, name, value]) => [name, value]);
  expect(apache('.htaccess')).toEqual(everywhere);
  expect(apache('figures/.htaccess')).toEqual([framed]);
});

test('embed.js has a stable and a versioned address', () => {
  const { version } = JSON.parse(read('package.json', root));
  expect(read(`embed-${version}.js`)).toBe(read('embed.js'));
});

test('without SUPERPOSE_URL no file claims an address', () => {
  for (const file of ['index.html', 'evidence/index.html', 'figures/dot-products/index.html']) {
    const [head = ''] = read(file).match(/<head>[\s\S]*?<\/head>/) ?? [];
    expect(head.length).toBeGreaterThan(100);
    expect(head.match(/property="og:|rel="canonical"/g)).toBeNull();
  }
});

test('with SUPERPOSE_URL a figure’s page may read files from there, by the whole address', () => {
  const policyAt = (address: string) => {
    vi.stubEnv('SUPERPOSE_URL', address);
    const page: SinglePageParts['page'] = { figure: 'gram', settings: [], module: 'small', home: '../../' };
    const texts = { title: '', description: '', finding: '', script: '' };
    return singlePage({ ...texts, page, pictures: { narrow: '', wide: '' } }).match(/connect-src [^;]*/)?.[0];
  };
  expect(policyAt('https://example.org/superpose/')).toBe("connect-src 'self' https://example.org");
  expect(policyAt('')).toBe("connect-src 'self'");
  vi.stubEnv('SUPERPOSE_MODEL', 'https://models.example/minilm');
  expect(policyAt('https://example.org/superpose/')).toBe(
    "connect-src 'self' https://example.org https://models.example",
  );
  vi.unstubAllEnvs();
});

test('figures fetch the model from dist/, from the folder that SUPERPOSE_MODEL names, or from nowhere', () => {
  const addressFor = (setting: string) => {
    vi.stubEnv('SUPERPOSE_MODEL', setting);
    return modelAddress();
  };
  if (withModel) expect(readdirSync(join(dist, addressFor('')))).toContain('manifest.json');
  expect(addressFor('none')).toBe('');
  expect(addressFor('https://models.example/minilm')).toBe('https://models.example/minilm/');
  for (const wrong of ['model/', 'None', 'file:///model/', 'https://models.example/?minilm'])
    expect(() => addressFor(wrong), wrong).toThrow(`or none; it is “${wrong}”.`);
  vi.unstubAllEnvs();
});

test.each([['--with-model'], ['--without-model', 'x']])('npm run build refuses %s %s', (...options) => {
  const build = () =>
    execFileSync(process.execPath, [join(root, 'tools/build.mjs'), ...options], { stdio: 'pipe' });
  expect(build).toThrow(`npm run build takes --without-model or nothing, and got: ${options.join(' ')}`);
});

test('npm run build refuses to leave out a model that another folder has', () => {
  const env = { ...process.env, SUPERPOSE_MODEL: 'https://models.example/minilm' };
  const build = () =>
    execFileSync(process.execPath, [join(root, 'tools/build.mjs'), '--without-model'], {
      env,
      stdio: 'pipe',
    });
  expect(build).toThrow('names a folder that has it: https://models.example/minilm. Give one of them.');
});

test.runIf(withModel)('the model is in dist/ once, with one licence', () => {
  const files = readdirSync(join(dist, 'model'), { recursive: true, encoding: 'utf8' });
  expect(files.length).toBeLessThan(150);
  expect(files.filter((file) => file.endsWith('LICENSE'))).toEqual(['LICENSE']);
});

test('a wrong SUPERPOSE_URL is refused', () => {
  const build = () =>
    execFileSync(join(root, 'node_modules/.bin/vite'), ['build', '-c', 'web/vite.config.ts'], {
      cwd: root,
      env: { ...process.env, SUPERPOSE_URL: 'example.org' },
      stdio: 'pipe',
    });
  expect(build).toThrow(/SUPERPOSE_URL must be the address of the site/);
});

test('a page is sent without indentation, except where readers see it', () => {
  expect(withoutIndents('<p>\n    one\n\n  two</p>')).toBe('<p>\none\ntwo</p>');
  expect(() => withoutIndents('<pre>\n  x</pre>')).toThrow('preformatted');
});
