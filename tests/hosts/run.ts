// npm run hosts: builds every host's site with the snippets of web/page/platforms.ts, and opens and reports
// it.
import { join, relative } from 'node:path';
import { chromiumPath } from '../../tools/chromium.mjs';
import { root, usageError } from '../../tools/steps.mjs';
import { closeChromium } from '../engines/chromium.ts';
import { lacking } from '../engines/engines.ts';
import { type Built, type Host, hosts } from './hosts.ts';
import { serve } from './serve.ts';
import { copied, run, siteOf, withNode22 } from './site.ts';
import { browsers, type Scheme, type Verdict, visit } from './visit.ts';

type BrowserName = keyof typeof browsers;

const schemes: Scheme[] = ['light', 'dark'];
const widths = [390, 1280];
const height = 844;
const shots = join(root, 'build/hosts/screenshots');
const visits = schemes.length * widths.length;

export async function main(args: string[]): Promise<number> {
  const unknown = args.find((text) => !(text in hosts || text in browsers || args.join() === '--lighthouse'));
  if (unknown !== undefined)
    throw usageError(
      `npm run hosts takes names of ${Object.keys(hosts).join(', ')}, and of ${Object.keys(browsers).join(', ')}, or --lighthouse alone; it got: ${args.join(' ')}`,
    );
  const dist = await serve(
    { '/superpose/': join(root, 'dist') },
    { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' },
  );
  try {
    const home = `${dist.address}superpose/`;
    return await (args[0] === '--lighthouse' ? lighthouse(home) : everyHost(args, home));
  } finally {
    await dist.stop();
  }
}

interface Made extends Built {
  name: string;
  host: Host;
}

async function everyHost(args: string[], home: string): Promise<number> {
  const some = <T extends string>(all: object) => {
    const named = args.filter((text) => text in all);
    return (named.length > 0 ? named : Object.keys(all)) as T[];
  };
  const missing: string[] = [];
  /** By host, way and browser: how often it was seen, and what was wrong. */
  const tally = new Map<string, { seen: number; wrong: Set<string> }>();
  const builds: Made[] = [];
  try {
    for (const name of some(hosts)) {
      const host = hosts[name] as Host;
      try {
        builds.push({ name, host, ...(await host.build(await siteOf(name, host, home))) });
        console.log(`${host.title}: built`);
      } catch (error) {
        missing.push(`${host.title}: could not be built: ${(error as Error).message}`);
      }
    }
    for (const browser of some<BrowserName>(browsers)) {
      const programs = browser === 'chromium' ? [] : lacking[browser]();
      if (programs.length > 0) missing.push(`${browser}: not on this machine: ${programs.join(', ')}`);
      else
        for (const scheme of schemes)
          for (const build of builds)
            for (const { verdict, width } of await visitsOf(build, browser, scheme, home)) {
              const row = `${build.host.title} | ${verdict.way} | ${browser}`;
              const { seen, wrong } = tally.get(row) ?? { seen: 0, wrong: new Set() };
              for (const what of verdict.wrong) wrong.add(`${width} px ${scheme}: ${what}`);
              tally.set(row, { seen: seen + Number(verdict.seen), wrong });
            }
    }
  } finally {
    for (const { stop } of builds) await stop().catch(() => {});
    await closeChromium();
  }
  console.log('\n| engine | way | browser | seen |\n| --- | --- | --- | --- |');
  for (const [row, { seen }] of tally) console.log(`| ${row} | ${seen}/${visits} |`);
  const wrong = [...tally].flatMap(([row, { wrong }]) => [...wrong].map((what) => `${row}, ${what}`));
  for (const text of wrong) console.log(`wrong: ${text}`);
  for (const text of missing) console.log(`not run: ${text}`);
  console.log(`Screenshots of Chromium are in ${relative(root, shots)}/.`);
  const all = [...tally.values()].every(({ seen }) => seen === visits);
  return all && wrong.length === 0 && missing.length === 0 ? 0 : 1;
}

/** A host's page in a browser, at every width. */
async function visitsOf(
  { name, host, page }: Made,
  browser: BrowserName,
  scheme: Scheme,
  home: string,
): Promise<{ verdict: Verdict; width: number }[]> {
  const verdicts: { verdict: Verdict; width: number }[] = [];
  const visitor = await browsers[browser](scheme);
  try {
    for (const width of widths) {
      await visitor.resize(width, height);
      const shot = (way: string) => join(shots, `${[name, way, width, scheme].join('-')}.png`);
      const results = await visit({ page, host, visitor, home, shot }).catch((error: Error): Verdict[] =>
        page.ways.map(({ place }) => ({ way: place, seen: false, wrong: [error.message] })),
      );
      verdicts.push(...results.map((verdict) => ({ verdict, width })));
    }
  } finally {
    await visitor.close().catch(() => {});
  }
  console.log(`${browser}, ${scheme}: ${host.title}`);
  return verdicts;
}

/**
 * Lighthouse's scores of the page, and of a plain page with a figure below its fold: medians of five, and
 * the least.
 */
async function lighthouse(home: string): Promise<number> {
  const runs = 5;
  const folder = await copied('lighthouse');
  const PATH = await withNode22();
  const categories = ['performance', 'accessibility', 'best-practices'];
  const chrome = '--headless=new --no-sandbox --disable-gpu --disable-background-networking';
  const options = [
    `--only-categories=${categories}`,
    '--output=json',
    '--quiet',
    '--no-enable-error-reporting',
    `--chrome-flags=${chrome}`,
  ];
  const scores = async (address: string, preset: string[]): Promise<number[]> => {
    const report = await run(
      folder,
      'node',
      ['node_modules/lighthouse/cli/index.js', address, ...options, ...preset],
      { PATH, CHROME_PATH: chromiumPath ?? 'chromium' },
    );
    const { categories: measured, runtimeError } = JSON.parse(report.slice(report.indexOf('{')));
    if (runtimeError) throw new Error(`Lighthouse: ${runtimeError.message}`);
    return categories.map((category) => Math.round(100 * measured[category].score));
  };
  const host = hosts.html as Host;
  const { page, stop } = await host.build(await siteOf('lighthouse-site', { ways: ['html'] }, home));
  let failed = 0;
  try {
    for (const [title, address, least, ...preset] of [
      ['the page, desktop', home, [99, 100, 100], '--preset=desktop'],
      ['the page, slowed phone', home, [95, 100, 100]],
      ['a plain page with one figure, slowed phone', page.address, [97, 0, 0]],
    ] as [string, string, number[], ...string[]][]) {
      const samples: number[][] = [];
      while (samples.length < runs) samples.push(await scores(address, preset));
      const medians = least.map(
        (_, at) => samples.map((all) => all[at] as number).sort((a, b) => a - b)[runs >> 1],
      );
      console.log(`${title}: ${categories} ${medians.join(' / ')} of ${samples.join(' | ')}`);
      if (medians.some((median = 0, at) => median < (least[at] as number))) failed = 1;
    }
  } finally {
    await stop();
  }
  return failed;
}
