// README.md's commands for a checkout, run unchanged in a copy of this one: they build and serve while this
// one is being tested.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute, plainEnvironment, root } from '../package/support/project.ts';
import { commands, everyBlock, forThePackage } from '../package/support/readme.ts';
import { copySources } from './support/copy.ts';

const copy = join(root, 'build/readme-checkout');
const inCopy = (file: string) => join(copy, file);
const read = (file: string) => readFileSync(inCopy(file), 'utf8');
// Build for no particular address, unless a command says so.
const env = plainEnvironment();
delete env.SUPERPOSE_URL;

const run = async (command: string) => {
  const outcome = await execute('sh', ['-c', command], copy, env);
  expect({ command, code: outcome.code }, outcome.stdout + outcome.stderr).toEqual({ command, code: 0 });
  return outcome.stdout;
};

beforeAll(async () => {
  copySources(copy);
  // As after `npm ci`, with everything built except the page: the tests depend on every other part.
  await execute('cp', ['-al', join(root, 'node_modules'), copy], root);
  for (const folder of ['package', 'single', 'model', 'computed', 'stamps']) {
    const built = join(root, 'build', folder);
    if (existsSync(built)) cpSync(built, inCopy(`build/${folder}`), { recursive: true });
  }
  rmSync(inCopy('build/stamps/page'), { force: true });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** What each command must do; it gets the command as README.md has it. */
const checks: Record<string, (command: string) => Promise<void>> = {
  'npm run build': async (command) => {
    await run(command);
    expect(read('dist/index.html')).toContain('<superpose-figure');
    expect(existsSync(inCopy('dist/demo/index.html'))).toBe(true);
    expect(existsSync(inCopy('dist/sitemap.xml'))).toBe(false);
  },

  'npm start': async (command) => {
    const server = spawn('sh', ['-c', command], { cwd: copy, env, detached: true });
    const ended = new Promise((done) => server.once('close', done));
    server.stderr.resume();
    let address: string | undefined;
    const said: string[] = [];
    for await (const line of createInterface(server.stdout)) {
      said.push(line);
      address = line.match(/^http:\/\/127\.0\.0\.1:\d+\/$/)?.[0];
      if (address) break;
    }
    server.stdout.resume();
    try {
      expect(address, said.join('\n')).toBeDefined();
      const answer = await fetch(address as string);
      expect(answer.status).toBe(200);
      // When served on this machine, the page is not kept for offline use.
      expect(await answer.text()).toBe(read('dist/index.html').replace(/ data-offline="[^"]*"/, ''));
    } finally {
      // Ends the shell, npm and all that they started; it may have ended by itself.
      if (address) process.kill(-(server.pid as number), 'SIGTERM');
      await ended;
    }
  },

  // All tests cannot run inside one of them: run one file here, and check how that runs.
  'npm test': async (command) => {
    expect(await run(`${command} -- node relativePosition`)).toMatch(
      /^[1-9]\d* passed, 0 failed, 0 skipped$/m,
    );
    const { npm_lifecycle_event: by, npm_lifecycle_script: script } = process.env;
    const { scripts } = JSON.parse(read('package.json'));
    if (by === 'test') expect(script?.startsWith(scripts.test), script).toBe(true);
  },

  'npm pack': async (command) => {
    const { name, version } = JSON.parse(read('package.json'));
    expect(await run(command)).toContain(`${name}-${version}.tgz`);
    expect(existsSync(inCopy(`${name}-${version}.tgz`))).toBe(true);
  },

  'SUPERPOSE_URL=https://example.org/superpose npm run build': async (command) => {
    await run(command);
    const home = 'https://example.org/superpose/';
    const [page = ''] = read('dist/figures/dot-products/index.html').match(/<head>[\s\S]*?<\/head>/) ?? [];
    expect(page).toContain(`<link rel="canonical" href="${home}figures/dot-products/" />`);
    expect(page).toContain(`<meta property="og:image" content="${home}figures/dot-products/card.png" />`);
    expect(page).toContain(`href="${home}figures/dot-products/oembed.json"`);
    expect(page).toContain("connect-src 'self' https://example.org;");
    const oembed = JSON.parse(read('dist/figures/dot-products/oembed.json'));
    expect(oembed).toMatchObject({ version: '1.0', type: 'rich', provider_name: 'Superpose' });
    expect(oembed.html).toContain(`src="${home}figures/dot-products/"`);
    const card = readFileSync(inCopy('dist/figures/dot-products/card.png'));
    expect(card.subarray(1, 4).toString()).toBe('PNG');
    expect(read('dist/index.html')).toContain(`<meta property="og:url" content="${home}" />`);
    expect(read('dist/robots.txt')).toContain(`Sitemap: ${home}sitemap.xml`);
    for (const [, address = ''] of read('dist/sitemap.xml').matchAll(/<loc>(.*?)<\/loc>/g)) {
      expect(existsSync(inCopy(join('dist', address.slice(home.length), 'index.html'))), address).toBe(true);
    }
  },
};

const forCheckouts = commands().filter((command) => !forThePackage(command));

test('every code block of README.md is one that a test runs', () => {
  expect(everyBlock()).toEqual([
    'at the top: sh', // below
    'Embed a figure in a minute: html', // tests/embed/readme.test.ts
    'Embed a figure in a minute: html',
    'Use it from Node: sh', // tests/package/readme.test.ts
    'Use it from Node: js', // the same, and tests/api/readme.test.ts
  ]);
});

test('every command of README.md is run, here or in tests/package', () => {
  expect(forCheckouts.sort()).toEqual(Object.keys(checks).sort());
});

test.each(Object.entries(checks))('%s', (command, check) => check(command));

test('every file that README.md and CONTRIBUTING.md name is there', () => {
  for (const file of ['README.md', '.github/CONTRIBUTING.md']) {
    const text = readFileSync(join(root, file), 'utf8').replace(/```[\s\S]*?```/g, '');
    const named = [...text.matchAll(/`((?:src|web|tests|tools|\.github)\/[\w./-]+)`/g)].map(
      ([, path]) => path as string,
    );
    expect(named.length).toBeGreaterThan(5);
    // The files of the worked examples are for the reader to write.
    for (const path of named.filter((one) => !/\/(turns|nerf|huang)(\.test|_test)?\.\w+$/.test(one))) {
      expect(existsSync(join(root, path)), path).toBe(true);
    }
  }
});
