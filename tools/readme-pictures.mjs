// node tools/readme-pictures.mjs: makes the two pictures of README, docs/page.png and score.png, from the
// page. Needs dist/, which npm run build makes, with the model in it.
import { chromium } from 'playwright';
import { withPage } from './bench/figures.mjs';
import { chromiumOptions } from './chromium.mjs';
import { root, runTool } from './steps.mjs';

/** The figure in each file, drawn in its first state. */
const pictures = { page: 'dot-products', score: 'one-score' };

/** The figure's drawing, without its inputs and tools. */
async function picture(page, address, name, path) {
  await page.goto(`${address}#v=1&figure=${name}`);
  await page.reload();
  const figure = page.locator(`superpose-figure[name="${name}"]`);
  await page.waitForFunction((name) => {
    const figure = document.querySelector(`superpose-figure[name="${name}"]`);
    return figure.result && !figure.busy;
  }, name);
  await figure.locator('.surface').screenshot({ path, animations: 'disabled' });
}

async function main() {
  await withPage(async (address) => {
    const browser = await chromium.launch(chromiumOptions);
    try {
      const page = await browser.newPage({
        viewport: { width: 1280, height: 900 },
        reducedMotion: 'reduce',
        colorScheme: 'light',
      });
      for (const [file, name] of Object.entries(pictures)) {
        const path = `${root}/docs/${file}.png`;
        await picture(page, address, name, path);
        console.log(path);
      }
    } finally {
      await browser.close();
    }
  });
  return 0;
}

await runTool(import.meta.url, main);
