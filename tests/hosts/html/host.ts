// A plain HTML page, with a stylesheet that must not affect the figures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../tools/steps.mjs';
import { type Host, onePage, waysOf } from '../support/host.ts';

export const html: Host = {
  title: 'HTML',
  prints: true,
  ways: waysOf('html', ['script', 'iframe', 'svg']),
  async build(site) {
    let text = site.post('html');
    for (const { figure } of site.pasted.filter(({ kind }) => kind === 'svg')) {
      const name = `pictures/${figure}-wide.svg`;
      site.write(`site/${name}`, readFileSync(join(root, 'dist', name), 'utf8'));
      text = text.replace(`src="${figure}.svg"`, `src="${name}"`);
    }
    site.write('site/index.html', page(text));
    return onePage(site, 'site', '');
  },
};

const page = (body: string) => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A page</title>
<style>
:root { color-scheme: light dark; font-size: 20px; --accent: hotpink; --ink: hotpink }
body { max-width: 44rem; margin: 0 auto; padding: 1rem; font-family: cursive; line-height: 2; text-align: justify; letter-spacing: .03em }
p, button, input, label, summary, h3 { color: teal; text-transform: lowercase }
</style>
</head>
<body>
<main>
<h1>A page</h1>
${body}</main>
</body>
</html>
`;
