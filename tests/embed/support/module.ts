// A module of web/embed by itself in a page, as its source has it, before anything is built.
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

/** A classic script; what the module exports is `embed` there. */
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

/** A page with this in its body. It may complain of nothing. */
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

/** Until the page has been laid out, has painted, and what observes it has been told. */
export const painted = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    await new Promise((later) => setTimeout(later));
  });
