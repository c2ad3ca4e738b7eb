// Builds source/: pages with the code that the sections of the page name.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { escaped } from '../../plot/svg.js';
import { upFrom } from '../places.js';
import { type PageFiles, pageFilesOf, readingPage } from './readingPage.js';

const root = resolve(import.meta.dirname, '../../..');
const named = /<code>((?:src|web\/figures)\/[\w/]+\.(?:cpp|ts))<\/code>/g;

/** A .cpp file comes with its header, which documents its functions and types. */
const withHeader = (file: string): string[] =>
  file.endsWith('.cpp') ? [file.replace(/cpp$/, 'h'), file] : [file];

function pageOf(file: string, files: PageFiles): string {
  const parts = withHeader(file).map((path) => {
    const code = readFileSync(resolve(root, path), 'utf8');
    return `<h2>${path}</h2>\n<pre><code>${escaped(code)}</code></pre>`;
  });
  const up = '../'.repeat(file.split('/').length);
  return readingPage({
    title: file,
    description: `The code of ${file}, as this page was built from it.`,
    home: up,
    files,
    main: `<h1>${file}</h1>\n<p><a href="${up}">The page</a></p>\n${parts.join('\n')}`,
  });
}

export function sources(dist: string): Plugin {
  const files = new Set<string>();
  return {
    name: 'sources',
    apply: 'build',
    transformIndexHtml: {
      order: 'pre',
      handler: (html, { path }) =>
        html.replace(named, (code, file: string) => {
          files.add(file);
          return `<a href="${upFrom(path)}source/${file}.html">${code}</a>`;
        }),
    },
    writeBundle(_, bundle) {
      for (const file of files) {
        const path = resolve(dist, 'source', `${file}.html`);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, pageOf(file, pageFilesOf(bundle)));
      }
    },
  };
}
