// What a figure below the fold costs the page around it: Lighthouse's performance score with it and without.
import { join } from 'node:path';
import { chromiumPath } from '../../../tools/chromium.mjs';
import { hosts } from '../hosts.ts';
import type { Host } from './host.ts';
import { copied, node22, run, siteOf } from './site.ts';

const tried = ['html', 'hugo'];
const runs = 5;
/** The most it may cost, in points out of a hundred. */
const most = 3;

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

/** Prints the medians; returns whether all are within the bound. */
export async function lighthouse(home: string): Promise<boolean> {
  const folder = await copied('lighthouse');
  const path = `${await node22()}:${process.env.PATH}`;
  const score = async (address: string) => {
    const report = await run(
      folder,
      'node',
      [
        'node_modules/lighthouse/cli/index.js',
        address,
        '--only-categories=performance',
        '--output=json',
        '--quiet',
        '--no-enable-error-reporting',
        '--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-background-networking --disable-component-update',
      ],
      { PATH: path, CHROME_PATH: chromiumPath ?? 'chromium' },
    );
    const { categories, runtimeError } = JSON.parse(report.slice(report.indexOf('{')));
    if (runtimeError) throw new Error(`Lighthouse: ${runtimeError.message}`);
    return Math.round(100 * categories.performance.score);
  };
  console.log(`\nLighthouse's performance, each median of ${runs}:`);
  console.log('| engine | without | with one figure | all |\n| --- | --- | --- | --- |');
  let within = true;
  for (const name of tried) {
    const host = hosts[name] as Host;
    const pages: { scores: number[]; address: string; stop(): Promise<void> }[] = [];
    try {
      for (const figures of [0, 1]) {
        const ways = host.ways.filter(({ kind }) => kind === 'script').slice(0, figures);
        const site = await siteOf(name, host, home, join('lighthouse-sites', `${name}-${figures}`), ways);
        const {
          pages: [page],
          stop,
        } = await host.build(site);
        pages.push({ scores: [], address: page?.address ?? '', stop });
      }
      // Taking turns, so that the machine's other work affects both.
      for (let turn = 0; turn < runs; turn++)
        for (const { scores, address } of pages) scores.push(await score(address));
    } finally {
      for (const { stop } of pages) await stop();
    }
    const [without = 0, one = 0] = pages.map(({ scores }) => median(scores));
    if (without - one > most) within = false;
    const all = pages.map(({ scores }) => scores.join(' ')).join(' / ');
    console.log(`| ${host.title} | ${without} | ${one}${without - one > most ? ' ✗' : ''} | ${all} |`);
  }
  return within;
}
