// Runs a single module of web/embed in a page, straight from its source, without a build of the site.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { Page } from 'playwright';
import { expect, onTestFinished } from 'vitest';
import { openChromium } from '../../engines/chromium.ts';

const styles: Plugin = {
  name: 'styles',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => ({
      contents: await readFile(path, 'utf8'),
      loader: 'text',
    }));
  },
};

/** Bundles a module as a classic script, which puts the module's exports into a global `embed`. */
export async function scriptOf(module: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`web/embed/${module}.ts`],
    bundle: true,
    format: 'iife',
    globalName: 'embed',
    target: 'es2022',
    write: false,
    // As in web/embed/vite.config.ts, nothing has an address.
    define: { 'import.meta.url': '"about:blank"' },
    alias: { superpose: resolve('build/package/index.js') },
    plugins: [styles],
  });
  return outputFiles?.[0]?.text as string;
}

/** A page with this markup in its body and head. The test fails if the page complains. */
export async function openPage(body = '', head = ''): Promise<Page> {
  const { page, complaints, close } = await openChromium();
  onTestFinished(async () => {
    await close();
    expect(complaints).toEqual([]);
  });
  await page.setContent(
    `<!DOCTYPE html><html lang="en"><head><title>A blog</title>${head}</head><body>${body}</body></html>`,
  );
  return page;
}

/** Waits until the page is laid out and painted, and its observers have been called. */
export const painted = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    await new Promise((later) => setTimeout(later));
  });
