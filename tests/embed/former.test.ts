// Other people's pages know figures by former names: in elements, frames and pictures, and in scripts of their own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { formerNames, today } from '../../web/figures/formerNames.ts';
import { figures } from '../../web/figures/index.ts';
import { openChromium } from '../engines/chromium.ts';
import { oldLinks } from '../figures/oldLinks.ts';
import { dist } from '../page/support/site.ts';
import { figure, inPage, openBlog, page, patience, script, settled } from './support/embeds.ts';
import { findingOf, readFigures, withoutResidual } from './support/figures.ts';

const modelTest = test.runIf(inject('withModel'));
const attributes = (settings: readonly (readonly [string, string])[]) =>
  settings
    .map(([name, text]) => [name.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`), text])
    .map(([name, text]) => ` ${name}="${text}"`)
    .join('');

describe('a page made for a former name shows what it showed', () => {
  modelTest.each(oldLinks)('$name, an element and a frame', async ({ name, was, figure: now }) => {
    const fragment = new URLSearchParams([['v', '1'], ['figure', name], ...was]);
    const { engine } = await openBlog(openChromium, ({ site }) => ({
      html: page(
        `<script src="${site}resize.js"></script>${figure(`name="${name}"${attributes(was)}`)}<iframe sandbox="allow-scripts" title="F" style="height:50px" src="${site}figures/${name}/#${fragment.toString().replaceAll('&', '&amp;')}"></iframe>${script(site)}`,
      ),
    }));
    const finding = withoutResidual(await findingOf(now, Object.fromEntries(today(name, was).settings)));
    const [found] = await settled(inPage(engine));
    expect(withoutResidual(found?.finding)).toBe(finding);
    expect(found?.problem).toBe('');
    // The frame is loaded when the reader comes near.
    await engine.evaluate(() => document.querySelector('iframe')?.scrollIntoView());
    const inFrame = () =>
      engine.evaluateInFrame(readFigures).then(
        ([one]) => withoutResidual(one?.finding),
        () => '',
      );
    await expect.poll(inFrame, patience).toBe(finding);
    const height = () => engine.evaluate(() => document.querySelector('iframe')?.clientHeight ?? 0);
    await expect.poll(height, patience).toBeGreaterThan(200);
  });

  modelTest.each(Object.keys(formerNames).filter((name) => today(name).figure in figures))(
    '%s, a picture',
    async (name) => {
      const { figure: now, settings } = today(name);
      const finding = await findingOf(now, Object.fromEntries(settings));
      for (const size of ['narrow', 'wide']) {
        const svg = readFileSync(join(dist, `pictures/${name}-${size}.svg`), 'utf8');
        expect(svg).toMatch(/^<svg /);
        const said = finding.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
        expect(withoutResidual(svg)).toContain(withoutResidual(said).slice(0, 120));
      }
    },
  );
});

test('a page’s script drives a figure by the settings of the day of its name', async () => {
  const { engine } = await openBlog(openChromium, ({ site }) => ({
    html: page(`${figure('name="cost" model="own" d="512" keep="model d"')}${script(site)}`),
  }));
  const shows = async (d_model: string) => {
    const finding = await findingOf('three-concats', { model: 'own', d_model });
    await expect.poll(async () => (await inPage(engine)())[0]?.finding, patience).toBe(finding);
  };
  await shows('512');
  const kept = await engine.evaluate(() => {
    const root = document.querySelector('superpose-figure')?.shadowRoot;
    return [
      ...new Set(
        [...(root?.querySelectorAll('.controls [name]') ?? [])].map((one) => one.getAttribute('name')),
      ),
    ];
  });
  expect(kept).toEqual(['model', 'd_model']);
  await engine.evaluate(() => document.querySelector('superpose-figure')?.setAttribute('d', '256'));
  await shows('256');
  const heard = await engine.evaluate(async () => {
    const element = document.querySelector('superpose-figure') as HTMLElement & {
      set(settings: object): Promise<void>;
    };
    const states: unknown[] = [];
    element.addEventListener('change', (event) => states.push((event as CustomEvent).detail.state.d));
    await element.set({ d: 1024 });
    return states;
  });
  expect(heard.every((d) => d === 1024)).toBe(true);
  await shows('1024');
  const attribute = (name: string) =>
    engine.evaluate((one) => document.querySelector('superpose-figure')?.getAttribute(one as string), name);
  await expect.poll(() => attribute('d'), patience).toBe('1024');
  expect(await attribute('d_model')).toBe(null);
});
