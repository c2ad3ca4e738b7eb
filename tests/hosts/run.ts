// npm run hosts: builds every host's site with the snippets of web/page/platforms.ts, and opens and reports it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root, usageError } from '../../tools/steps.mjs';
import { hosts } from './hosts.ts';
import {
  type BrowserName,
  browsers,
  closeBrowsers,
  lackingOf,
  type Scheme,
  type Visitor,
} from './support/browsers.ts';
import type { Host, Page } from './support/host.ts';
import { lighthouse } from './support/lighthouse.ts';
import { insideStyles } from './support/read.ts';
import { type Served, serve } from './support/serve.ts';
import { siteOf } from './support/site.ts';
import { type Reference, type Verdict, visit } from './support/visit.ts';

const schemes: Scheme[] = ['light', 'dark'];
const widths = [390, 1280];
const height = 844;
const shots = join(root, 'build/hosts/screenshots');
const visits = schemes.length * widths.length;

interface Row {
  host: string;
  way: string;
  browser: string;
  seen: number;
  wrong: Map<string, number>;
}

/** Slow measurements, each run on request; each returns whether it is within its bounds. */
const measures: Readonly<Record<string, (home: string) => Promise<boolean>>> = {
  '--lighthouse': lighthouse,
};

export async function main(args: string[]): Promise<number> {
  const unknown = args.find((one) => !(one in hosts) && !(one in browsers) && !(one in measures));
  const measured = args.filter((one) => one in measures);
  if (unknown !== undefined || (measured.length > 0 && measured.length < args.length))
    throw usageError(
      `npm run hosts takes names of ${Object.keys(hosts).join(', ')}, and of ${Object.keys(browsers).join(', ')}, or, alone, ${Object.keys(measures).join(' and ')}; it got: ${args.join(' ')}`,
    );
  const dist = await serve(
    { '/superpose/': join(root, 'dist') },
    { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' },
  );
  if (measured.length === 0) return everyHost(args, dist);
  try {
    let within = true;
    for (const one of measured)
      within = ((await measures[one]?.(`${dist.address}superpose/`)) ?? true) && within;
    return within ? 0 : 1;
  } finally {
    await dist.stop();
  }
}

async function everyHost(args: string[], dist: Served): Promise<number> {
  const named = args.filter((one) => one in hosts);
  const only = args.filter((one) => one in browsers) as BrowserName[];
  const wanted = named.length > 0 ? named : Object.keys(hosts);
  const home = `${dist.address}superpose/`;
  const rows: Row[] = [];
  const missing: string[] = [];
  const stops: (() => Promise<void>)[] = [() => dist.stop(), closeBrowsers];
  try {
    const built: { name: string; host: Host; page: Page }[] = [];
    for (const name of wanted) {
      const host = hosts[name] as Host;
      const started = Date.now();
      try {
        const { page, stop } = await host.build(await siteOf(name, host, home));
        stops.push(stop);
        built.push({ name, host, page });
        console.log(`${host.title}: built in ${((Date.now() - started) / 1000).toFixed(1)} s`);
      } catch (error) {
        missing.push(`${host.title}: could not be built: ${(error as Error).message}`);
      }
    }
    const bare = await barePage(home);
    stops.push(() => bare.stop());
    for (const browser of only.length > 0 ? only : (Object.keys(browsers) as BrowserName[])) {
      const lacking = lackingOf(browser);
      if (lacking.length > 0) {
        missing.push(`${browser}: not on this machine: ${lacking.join(', ')}`);
        continue;
      }
      for (const scheme of schemes) await withBrowser({ browser, scheme, bare, built, rows, home });
    }
  } finally {
    for (const stop of stops.reverse()) await stop().catch(() => {});
  }
  console.log(tableOf(rows));
  for (const one of missing) console.log(`not run: ${one}`);
  console.log(`Screenshots of Chromium are in ${relative(root, shots)}/.`);
  return missing.length > 0 || rows.some(isWrong) ? 1 : 0;
}

/** Two figures with nothing around them, one in each theme. */
async function barePage(home: string): Promise<Served> {
  const folder = join(root, 'build/hosts/bare');
  mkdirSync(folder, { recursive: true });
  const figures = schemes.map(
    (one) => `<superpose-figure name="dot-products" n="9" d="16" theme="${one}"></superpose-figure>`,
  );
  writeFileSync(
    join(folder, 'index.html'),
    `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Bare</title><body>${figures.join('')}<script type="module" src="${home}embed.js"></script>`,
  );
  return serve({ '/': folder });
}

async function referenceOf(visitor: Visitor, address: string): Promise<Reference> {
  await visitor.open(address);
  const found: Partial<Reference> = {};
  for (const [place, scheme] of schemes.entries()) {
    for (
      const end = Date.now() + 30_000;
      Date.now() < end;
      await new Promise((later) => setTimeout(later, 100))
    ) {
      await visitor.evaluate(
        (at) => document.querySelectorAll('superpose-figure')[at]?.scrollIntoView(),
        place,
      );
      found[scheme] = await visitor.evaluate(insideStyles, place);
      if (found[scheme]['.finding']) break;
    }
  }
  return found as Reference;
}

interface Round {
  browser: BrowserName;
  scheme: Scheme;
  bare: Served;
  built: { name: string; host: Host; page: Page }[];
  rows: Row[];
  home: string;
}

async function withBrowser({ browser, scheme, bare, built, rows, home }: Round): Promise<void> {
  const references: Record<number, Reference> = {};
  const first = await browsers[browser](scheme);
  try {
    for (const width of widths) {
      await first.resize(width, height);
      references[width] = await referenceOf(first, bare.address);
    }
  } finally {
    await first.close();
  }
  for (const { name, host, page } of built) {
    const visitor = await browsers[browser](scheme);
    try {
      for (const width of widths) {
        await visitor.resize(width, height);
        const verdicts = await visit({
          page,
          host,
          visitor,
          reference: references[width] as Reference,
          home,
          shot: (way) => join(shots, `${[name, way, width, scheme].join('-')}.png`),
        }).catch((error: Error): Verdict[] =>
          page.ways.map(({ place }) => ({ way: place, seen: false, wrong: [error.message] })),
        );
        for (const verdict of verdicts)
          note(rows, { host: host.title, browser }, verdict, `${width} px ${scheme}`);
      }
    } finally {
      await visitor.close().catch(() => {});
    }
    console.log(`${browser}, ${scheme}: ${host.title}`);
  }
}

function note(
  rows: Row[],
  { host, browser }: Pick<Row, 'host' | 'browser'>,
  { way, seen, wrong }: Verdict,
  where: string,
): void {
  let row = rows.find((one) => one.host === host && one.way === way && one.browser === browser);
  if (!row) {
    row = { host, browser, way, seen: 0, wrong: new Map() };
    rows.push(row);
  }
  row.seen += Number(seen);
  for (const one of wrong) {
    const sentence = `${where}: ${one}`;
    row.wrong.set(sentence, (row.wrong.get(sentence) ?? 0) + 1);
  }
}

const isWrong = ({ seen, wrong }: Row) => seen < visits || wrong.size > 0;

/** Engine and way in rows, browsers in columns; below them, what is wrong. */
function tableOf(rows: Row[]): string {
  const names = [...new Set(rows.map(({ browser }) => browser))];
  const keys = [...new Set(rows.map(({ host, way }) => `${host} | ${way}`))].sort();
  const find = (key: string, browser: string) =>
    rows.find((one) => `${one.host} | ${one.way}` === key && one.browser === browser);
  const cell = (row?: Row) => {
    if (!row) return '–';
    return `${row.way === 'picture' ? 'picture' : 'live'} ${row.seen}/${visits}${isWrong(row) ? ' ✗' : ''}`;
  };
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const lines = [
    line(['engine', 'way', ...names]),
    line(['---', '---', ...names.map(() => '---')]),
    ...keys.map((key) => line([key, ...names.map((name) => cell(find(key, name)))])),
  ];
  const wrong = rows.flatMap((row) =>
    [...row.wrong.keys()].map((one) => `- ${row.host}, ${row.way}, ${row.browser}, ${one}`),
  );
  return `\n${lines.join('\n')}\n${wrong.length > 0 ? `\nWrong:\n${wrong.join('\n')}` : ''}`;
}
