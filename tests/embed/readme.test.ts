// The snippets in README.md, pasted unchanged except for the address.
import { expect, onTestFinished, test } from 'vitest';
import { openChromium } from '../engines/chromium.ts';
import { blocks } from '../package/support/readme.ts';
import { findingOf, readFigures } from './support/figures.ts';
import { startServers } from './support/servers.ts';

const snippets = blocks('Embed a figure in a minute', 'html');

test.each(['<script', '<iframe'])('the snippet with %s', async (tag) => {
  const snippet = snippets.find((text) => text.includes(tag)) ?? '';
  const servers = await startServers(({ site }) => ({
    html: `<!DOCTYPE html><title>A blog</title>${snippet.replaceAll('https://example.org/superpose/', site)}`,
  }));
  onTestFinished(() => servers.stop());
  expect(snippet).toContain('https://example.org/superpose/');
  const engine = await openChromium();
  onTestFinished(() => engine.close());
  await engine.open(servers.blog);
  const read = () => (tag === '<iframe' ? engine.evaluateInFrame(readFigures) : engine.evaluate(readFigures));
  const finding = () =>
    read().then(
      ([one]) => one?.finding,
      () => '',
    );
  await expect.poll(finding).toBe(await findingOf('dot-products', { n: '16', d: '128' }));
  expect(engine.complaints).toEqual([]);
});
