// Plain HTML pages with a stylesheet that must not affect the figures, under a policy that lets in no more than
// docs/hosts.md says: one with the element and a picture, one with a frame, which is sandboxed.
import { type Host, onePage, type Site } from '../support/host.ts';

const plain = (title: string, ways: Host['ways'], policy: (origin: string) => string): Host => ({
  title,
  ways,
  async build(site: Site) {
    site.write('site/index.html', page(site.post('html'), policy(new URL(site.home).origin)));
    return onePage(site, 'site');
  },
});

export const html = plain(
  'HTML',
  ['html', 'picture'],
  (origin) => `script-src ${origin} blob: 'wasm-unsafe-eval'; connect-src ${origin}; img-src ${origin}`,
);

export const frame = plain(
  'HTML with a sandboxed frame',
  ['frame'],
  (origin) => `frame-src ${origin}; script-src ${origin}; connect-src 'none'; img-src 'none'`,
);

const page = (body: string, policy: string) => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}; object-src 'none'; base-uri 'none'; form-action 'none'">
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
