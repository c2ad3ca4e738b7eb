// Builds demo/: a blog post with five figures, embedded in five ways by the page's own snippets.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { pictureWidths } from '../../element/exports.js';
import { writtenState } from '../../figures/controls.js';
import {
  type EmbedRequest,
  frame,
  iframe,
  markdown,
  pictureAddress,
  picturesToSave,
  scriptTag,
  svgTag,
} from '../../page/snippets.js';
import { escaped } from '../../plot/svg.js';
import { renderState } from './figures.js';
import { hasModel, modelAddress } from './modelFolder.js';
import { type PageFiles, pageFilesOf } from './readingPage.js';
import { singlePage } from './singlePage.js';

const root = resolve(import.meta.dirname, '../../..');

export function demo(dist: string, version: string): Plugin {
  return {
    name: 'demo',
    apply: 'build',
    async writeBundle(_, bundle) {
      const folder = resolve(dist, 'demo');
      mkdirSync(folder, { recursive: true });
      const withModel = hasModel() && modelAddress() !== '';
      const trained = withModel ? 'one-score' : 'dot-products';
      const prepare = async (name: string, settings: [string, string][]) => {
        const { rendered, excerpt, toSvg } = await renderState(name, settings);
        const { figure, data, state } = rendered;
        const request: EmbedRequest = {
          figure,
          data,
          state,
          finding: figure.describe(data, state),
          home: '../',
          version,
          theme: 'auto',
          keep: Object.keys(figure.controls),
          width: 700,
        };
        for (const { name, width } of picturesToSave(request))
          writeFileSync(resolve(folder, name), await toSvg(rendered, width, request.theme));
        return { request, rendered, excerpt, toSvg };
      };

      const framed = await prepare('dot-products', [['n', '16']]);
      const scripted = await prepare(trained, withModel ? [['head', '0']] : [['n', '24']]);
      const pictured = await prepare(trained, []);
      const saved = await prepare('dot-products', [['d', '256']]);
      const single = await prepare(
        trained,
        withModel ? [['text', 'A figure in one file carries its own words.']] : [],
      );

      const oneFile = 'one-file.html';
      writeFileSync(
        resolve(folder, oneFile),
        singlePage({
          title: single.request.figure.title,
          description: single.request.finding,
          page: {
            figure: single.request.figure.name,
            settings: writtenState(single.request.figure.controls, single.request.state),
            module: single.request.figure.module,
            home: '../',
            excerpt: single.excerpt,
          },
          pictures: {
            narrow: await single.toSvg(single.rendered, pictureWidths.narrow, 'auto'),
            wide: await single.toSvg(single.rendered, single.request.width, 'auto'),
          },
          finding: single.request.finding,
          script: readFileSync(resolve(root, 'build/single/single.js'), 'utf8'),
        }),
      );
      const inFrame = frame(single.request, oneFile);
      const source = markdown(pictured.request);
      const [, text = '', , address = ''] = source.match(/^\[!\[(.*)\]\((.*)\)\]\((.*)\)$/m) ?? [];
      const rendered = `<p><a href="${escaped(address)}"><img src="${escaped(pictureAddress(pictured.request, 'wide'))}" alt="${escaped(text)}" style="max-width:100%;height:auto"></a></p>\n`;
      writeFileSync(
        resolve(folder, 'index.html'),
        post(pageFilesOf(bundle), [
          ['A frame', iframe(framed.request), iframe(framed.request)],
          ['A script tag', scriptTag(scripted.request), scriptTag(scripted.request)],
          ['Markdown', source, rendered],
          ['A saved picture', svgTag(saved.request), svgTag(saved.request)],
          ['One file', inFrame, inFrame],
        ]),
      );
    },
  };
}

/** A page without a Content-Security-Policy, as a blog's may be, that looks like the site's other pages. */
const post = ({ styles, font }: PageFiles, ways: [string, string, string][]): string => `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Five figures, five ways · Superpose</title>
    <meta name="description" content="A blog post with five figures of Superpose, embedded in five ways." />
    <link rel="preload" as="font" type="font/woff2" crossorigin href="../${font}" />
    <link rel="icon" href="../favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="../${styles}" />
    <style>main{max-width:44rem;padding:1rem}h2{margin-top:2.5rem}pre{overflow:auto;font-size:.8125rem;padding:.6rem;border-left:4px solid #8888;white-space:pre-wrap;overflow-wrap:anywhere}</style>
  </head>
  <body>
    <main>
      <p class="brand"><a href="../">Superpose</a> · <b>embeds</b></p>
      <h1>Five figures, five ways</h1>
      <p>What figures from Superpose look like in somebody else’s blog, with the code that was pasted below each. If only the script tag’s picture appears, the browser’s console says why: usually the server of <code>embed.js</code> does not send <code>Access-Control-Allow-Origin: *</code>. <code>_headers</code> and <code>.htaccess</code>, beside it, make many servers send it.</p>
${ways
  .map(
    ([title, source, html]) =>
      `      <h2>${title}</h2>\n${html}      <pre><code>${escaped(source)}</code></pre>\n`,
  )
  .join('')}    </main>
  </body>
</html>
`;
