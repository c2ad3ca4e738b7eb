// A React app built by Vite, with superpose/embed from the package, type-checked.
import { type Host, onePage } from '../support/host.ts';

export const react: Host = {
  title: 'React',
  ways: ['mdx'],
  packages: true,
  async build(site) {
    site.putPackage();
    const [element = '', configured = ''] = site.pasted[0]?.pieces.map(({ text }) => text) ?? [];
    site.write('src/superpose.ts', configured.replace('superpose/embed', 'superpose/embed/react'));
    site.write(
      'src/main.tsx',
      `import './superpose';
import { renderToString } from 'react-dom/server';
import { createRoot } from 'react-dom/client';
import type { FigureChange } from 'superpose/embed/react';

const heard = (event: CustomEvent<FigureChange>) => document.body.setAttribute('data-heard', String(event.detail.state.n));
export const Post = () => <main onScroll={undefined}><h1>A post</h1>
${site
  .post('html')
  .replace(element, element.replace(/<script.*\n/, ''))
  .replace('<superpose-figure ', '<superpose-figure onchange={heard} ')}
</main>;
// What a server would send has the element and its picture.
if (!renderToString(<Post />).includes('<superpose-figure')) throw new Error('The server sends no figure.');
createRoot(document.getElementById('app') as HTMLElement).render(<Post />);
// @ts-expect-error A figure must have a name.
export const Wrong = () => <superpose-figure />;
`,
    );
    await site.run('node', ['node_modules/typescript/bin/tsc', '-p', '.']);
    await site.run('node', ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn']);
    return onePage(site, 'dist');
  },
};
