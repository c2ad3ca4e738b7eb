// What a figure below the fold costs the page around it: Lighthouse's performance score with it and without.
import { join } from 'node:path';
import { chromiumPath } from '../../../tools/chromium.mjs';
import { html } from '../html/host.ts';
import { copied, run, siteOf, withNode22 } from './site.ts';

const runs = 5;
/** The most it may cost, in points out of a hundred. */
const most = 3;

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

/** Prints the medians; returns whether all are within the bound. */
export async function lighthouse(home: string): Promise<boolean> {
  const folder = await copied('lighthouse');
  const path = await withNode22();
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
  console.log(`\nLighthouse's performance of a plain page, each median of ${runs}:`);
  console.log('| without | with one figure | all |\n| --- | --- | --- |');
  const pages: { scores: number[]; address: string; stop(): Promise<void> }[] = [];
  try {
    for (const figures of [0, 1]) {
      const ways = html.ways.slice(0, figures);
      const site = await siteOf(join('lighthouse-sites', `${figures}`), { ways }, home);
      const { page, stop } = await html.build(site);
      pages.push({ scores: [], address: page.address, stop });
    }
    // Taking turns, so that the machine's other work affects both.
    for (let turn = 0; turn < runs; turn++)
      for (const { scores, address } of pages) scores.push(await score(address));
  } finally {
    for (const { stop } of pages) await stop();
  }
  const [without = 0, one = 0] = pages.map(({ scores }) => median(scores));
  const isWithin = without - one <= most;
  const all = pages.map(({ scores }) => scores.join(' ')).join(' / ');
  console.log(`| ${without} | ${one}${isWithin ? '' : ' ✗'} | ${all} |`);
  return isWithin;
}
