// A page that names a released version's files, embed-VERSION.js and its pictures, still works after the next
// deployment. The step of the workflow that keeps these files is run as it stands, with this build as the
// release and with other files as the new site.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { openChromium } from '../engines/chromium.ts';
import { root } from '../package/support/project.ts';
import { dist } from '../page/support/site.ts';
import { figure, inPage, openBlog, page, settled } from './support/embeds.ts';
import { findingOf, withoutResidual } from './support/figures.ts';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'superpose-pinned-'));
const site = join(folder, 'dist');

/** The shell of a step of the workflow. */
function stepOf(name: string): string {
  const workflow = readFileSync(join(root, '.github/workflows/pages.yml'), 'utf8');
  const [, shell = ''] =
    workflow.match(new RegExp(`- name: ${name}\\n[^]*?run: \\|\\n((?: {10}.*\\n)+)`)) ?? [];
  return shell.replace(/^ {10}/gm, '');
}

function run(command: string, ...args: string[]): void {
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  const { status, stderr } = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
}

function put(file: string, text: string): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The files of the next version, among them some with the same names. */
const next = {
  'embed.js': 'throw new Error("the newest");',
  [`embed-${version}.js`]: 'throw new Error("built again");',
  'embed-99.0.0.js': 'throw new Error("the newest");',
  'assets/mirror-00000000.js': '',
  'model/manifest.json': '{"format":99,"files":{}}',
  'model/00000000/manifest.json': '{"format":99,"files":{}}',
  'pictures/dot-products-wide.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
};

beforeAll(() => {
  const archive = join(folder, 'archive.tar.gz');
  const others = ['figures', 'source', 'demo', 'api'].map((name) => `--exclude=./${name}`);
  run('tar', '--use-compress-program=gzip -1', '-cf', archive, '-C', dist, ...others, '.');
  for (const [file, text] of Object.entries(next)) put(`dist/${file}`, text);
  put(
    'bin/gh',
    `#!/bin/sh
case "$1 $2" in
  'release list') echo v${version} ;;
  'release download') [ "$3 $4 $6" = "v${version} --pattern --dir" ] && cp ${archive} "$7/superpose-site-$3.tar.gz" ;;
  *) exit 1 ;;
esac
`,
  );
  chmodSync(join(folder, 'bin/gh'), 0o755);
  // Runs the step as GitHub does.
  put('step.sh', stepOf('Keep the files of released versions'));
  run('bash', '-e', 'step.sh');
  return () => rmSync(folder, { recursive: true });
});

describe('after the next deployment', () => {
  const open = async (body: string, lost?: RegExp) => {
    const opened = await openBlog(
      openChromium,
      ({ site: home }) => ({
        html: page(`${body}<script type="module" src="${home}embed-${version}.js"></script>`),
      }),
      { folder: site, ...(lost && { prepare: (servers) => servers.lose(lost) }) },
    );
    onTestFinished(() => expect(opened.engine.complaints).toEqual([]));
    return opened;
  };

  test.each(['dot-products', ...(inject('withModel') ? ['one-score'] : [])])(
    'a pinned %s computes, from files of its own version alone',
    async (name) => {
      const { engine, servers } = await open(figure(`name="${name}"`));
      const [shownFigure] = await settled(inPage(engine));
      expect(shownFigure).toMatchObject({ problem: '' });
      expect(withoutResidual(shownFigure?.finding)).toBe(withoutResidual(await findingOf(name)));
      expect(servers.requests.length).toBeGreaterThan(5);
      const changed = servers.requests.filter(
        (file) => !readFileSync(join(dist, file)).equals(readFileSync(join(site, file))),
      );
      expect(changed).toEqual([]);
    },
  );

  test('a pinned figure with nothing between its tags, and nothing to compute with, shows the picture of its version', async () => {
    const { engine } = await open('<superpose-figure name="dot-products"></superpose-figure>', /\.wasm$/);
    await settled(inPage(engine));
    const source = () =>
      engine.evaluate(
        () => document.querySelector('superpose-figure')?.shadowRoot?.querySelector('img')?.src,
      );
    await expect.poll(source).toMatch(new RegExp(`/pictures/${version}/dot-products-narrow\\.svg$`));
    for (const size of ['narrow', 'wide'])
      expect(existsSync(join(site, `pictures/${version}/dot-products-${size}.svg`))).toBe(true);
  });

  test('what is not pinned is the newest', () => {
    for (const [file, text] of Object.entries(next)) {
      if (file !== `embed-${version}.js`) expect(readFileSync(join(site, file), 'utf8'), file).toBe(text);
    }
  });
});
