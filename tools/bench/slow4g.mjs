// The first screen on slow 4G: when its finished picture is there, and when Replay can be pressed. Three visits to dist/.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { chromiumOptions } from '../chromium.mjs';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const types = { '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.svg': 'image/svg+xml' };
const server = createServer((request, response) => {
  let path = join(dist, new URL(request.url, 'http://site').pathname);
  if (existsSync(path) && statSync(path).isDirectory()) path = join(path, 'index.html');
  if (!existsSync(path)) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader('Content-Type', types[extname(path)] ?? 'application/octet-stream');
  if (existsSync(`${path}.br`)) {
    response.setHeader('Content-Encoding', 'br');
    path += '.br';
  }
  response.end(readFileSync(path));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));

/** Runs in the page. */
function watch() {
  const seen = {};
  window.seen = seen;
  const look = () => {
    const figure = document.querySelector('superpose-figure[name=add-or-concatenate]');
    const picture = figure?.querySelector('img');
    if (picture?.complete && picture.naturalWidth > 0) seen.picture ??= performance.now();
    const buttons = figure?.result ? [...figure.shadowRoot.querySelectorAll('button')] : [];
    if (buttons.some(({ textContent }) => textContent.includes('Replay'))) seen.replay ??= performance.now();
    if (!seen.replay) requestAnimationFrame(look);
  };
  look();
}

const browser = await chromium.launch(chromiumOptions);
for (let visit = 1; visit <= 3; visit++) {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    serviceWorkers: 'block',
  });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const throughput = 1.6e6 / 8;
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 150, downloadThroughput: throughput, uploadThroughput: throughput },
  });
  await page.addInitScript(watch);
  await page.goto(`http://127.0.0.1:${server.address().port}/`, { waitUntil: 'commit' });
  await page.waitForFunction(() => window.seen.replay);
  const { picture, replay } = await page.evaluate(() => window.seen);
  console.log(
    `visit ${visit}: picture after ${Math.round(picture)} ms, Replay after ${Math.round(replay)} ms`,
  );
  await context.close();
}
await browser.close();
server.close();
