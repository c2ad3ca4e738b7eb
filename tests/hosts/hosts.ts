// Every host that `npm run hosts` tries: a small site of its engine, and the post in it.
import type { Piece, PlatformName } from '../../web/page/platforms.ts';

/** A figure in a post: the Embed dialog's texts for it, and what is expected of it. */
export interface Pasted {
  place: PlatformName;
  pieces: readonly Piece[];
  /** The text to paste into the post. */
  text: string;
  /** The figure: its name, its settings, its finding, and where it links to. */
  figure: string;
  settings: Record<string, string>;
  finding: string;
  link: string;
  /** The pictures that are saved beside the page, by name. */
  pictures: [name: string, svg: string][];
}

export interface Page {
  address: string;
  ways: readonly Pasted[];
}

export interface Built {
  page: Page;
  stop(): Promise<void>;
}

export interface Site {
  /** Address of dist/ on another origin, ending in a slash. */
  home: string;
  /** What is pasted, way by way. */
  pasted: readonly Pasted[];
  /** A post in Markdown or HTML: paragraphs before, between and after what is pasted. */
  post(language: 'markdown' | 'html'): string;
  write(file: string, text: string): void;
  /** Puts this checkout's package where the site finds it as `superpose`. */
  putPackage(): void;
  /** Runs a program in the folder and returns what it printed. */
  run(command: string, args: string[]): Promise<string>;
  /** Serves a folder inside the site: its page, and what ends the server. */
  onePage(folder: string): Promise<Built>;
}

export interface Host {
  /** The title in the table. */
  title: string;
  /** The platforms of the Embed dialog whose texts are pasted. */
  ways: readonly PlatformName[];
  /** Whether it has a folder here, with npm packages. */
  packages?: true;
  /** Builds the site and returns its page. `stop` ends what was started for it. */
  build(site: Site): Promise<Built>;
  /** Runs in the page: switches it to its dark theme, or back. */
  dark?: (dark: boolean) => void;
}

// Plain HTML pages with a stylesheet that must not affect the figures, under a policy that lets in no more
// than docs/hosts.md says: one with the element and a picture, one with a frame, which is sandboxed.
const plain = (title: string, ways: Host['ways'], policy: (origin: string) => string): Host => ({
  title,
  ways,
  async build(site) {
    site.write('site/index.html', page(site.post('html'), policy(new URL(site.home).origin)));
    return site.onePage('site');
  },
});

const html = plain(
  'HTML',
  ['html', 'picture'],
  (origin) => `script-src ${origin} blob: 'wasm-unsafe-eval'; connect-src ${origin}; img-src ${origin}`,
);

const frame = plain(
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

/** A React app built by Vite, with add-or-concatenate/embed from the package, type-checked. */
const react: Host = {
  title: 'React',
  ways: ['mdx'],
  packages: true,
  async build(site) {
    site.putPackage();
    const [element = '', configured = ''] = site.pasted[0]?.pieces.map(({ text }) => text) ?? [];
    site.write(
      'src/superpose.ts',
      configured.replace('add-or-concatenate/embed', 'add-or-concatenate/embed/react'),
    );
    site.write(
      'src/main.tsx',
      `import './superpose';
import { renderToString } from 'react-dom/server';
import { createRoot } from 'react-dom/client';
import type { FigureChange } from 'add-or-concatenate/embed/react';

const heard = (event: CustomEvent<FigureChange>) => document.body.setAttribute('data-heard', String(event.detail.state.n));
const Post = () => <main onScroll={undefined}><h1>A post</h1>
${site
  .post('html')
  .replace(element, element.replace(/<script.*\n/, ''))
  .replace('<superpose-figure ', '<superpose-figure onchange={heard} ')}
</main>;
// What a server would send has the element and its picture.
if (!renderToString(<Post />).includes('<superpose-figure')) throw new Error('The server sends no figure.');
createRoot(document.getElementById('app') as HTMLElement).render(<Post />);
`,
    );
    await site.run('node', ['node_modules/typescript/bin/tsc', '-p', '.']);
    await site.run('node', ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn']);
    return site.onePage('dist');
  },
};

/** Astro with MDX, whose page has a switch of its own between light and dark. */
const astro: Host = {
  title: 'Astro',
  packages: true,
  ways: ['mdx'],
  async build(site) {
    site.write(
      'src/pages/index.mdx',
      `---\nlayout: ../layouts/post.astro\ntitle: A post\n---\n\n${site.post('markdown')}`,
    );
    await site.run('node', ['node_modules/astro/bin/astro.mjs', 'build']);
    return site.onePage('dist');
  },
  dark: (dark) => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  },
};

export const hosts: Readonly<Record<string, Host>> = { html, frame, react, astro };
