// The first screen on slow 4G: when its finished picture is there, and when Replay can be pressed. Three visits to dist/.
import { browsers, withPage } from './browsers.mjs';

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

const bytesPerSecond = 1.6e6 / 8;
const network = { latency: 150, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond };

await withPage(async (address) => {
  for (let visit = 1; visit <= 3; visit++) {
    const viewport = { width: 390, height: 844 };
    const { page, close } = await browsers.chromium({ viewport, serviceWorkers: 'block' });
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', { offline: false, ...network });
    await page.addInitScript(watch);
    await page.goto(address, { waitUntil: 'commit' });
    await page.waitForFunction(() => window.seen.replay);
    const { picture, replay } = await page.evaluate(() => window.seen);
    console.log(
      `visit ${visit}: picture after ${Math.round(picture)} ms, Replay after ${Math.round(replay)} ms`,
    );
    await close();
  }
});
