// Where people write, and what to paste there: the pieces of a snippet, and where each goes. `npm run hosts`
// builds sites with these very texts.
import {
  bibtex,
  element,
  iframe,
  markdown,
  scriptAddress,
  scriptTag,
  svgTag,
  type Wish,
} from './snippets.js';

export interface Piece {
  /** A file, or another place that the text goes to. */
  into: string;
  text: string;
}

export interface Platform {
  label: string;
  /** What it is good for, and what it takes. */
  says: string;
  /** Whether the figure itself is embedded, and answers there. */
  live: boolean;
  /** The kind of file that is saved, beside what is pasted or instead of it. */
  saves?: 'svg' | 'html';
  pieces(wish: Wish): Piece[];
}

/** Its texts have no braces, which would be code here. */
const elementInJsx = (wish: Wish) =>
  element(wish, ' /').replace(
    'style="max-width:100%;height:auto"',
    "style={{ maxWidth: '100%', height: 'auto' }}",
  );
const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

export const platforms = {
  html: {
    label: 'HTML with scripts',
    says: 'Part of your page: figures share one module and, with the same group="…", their sliders.',
    live: true,
    pieces: (wish) => [{ into: 'the page', text: scriptTag(wish) }],
  },
  frame: {
    label: 'No scripts (frame)',
    says: 'For most blogs; isolated from your page. Without its last line, a script, it keeps this height.',
    live: true,
    pieces: (wish) => [{ into: 'the page', text: iframe(wish) }],
  },
  picture: {
    label: 'No frames (picture)',
    says: 'A picture with a link to the figure. Unless it is of the first view, save it beside the page.',
    live: false,
    saves: 'svg',
    pieces: (wish) => [
      { into: 'Markdown', text: markdown(wish) },
      { into: 'HTML', text: svgTag(wish) },
      { into: 'a .bib file', text: bibtex(wish, new Date().getFullYear()) },
    ],
  },
  mdx: {
    label: 'MDX or React',
    says: 'In an app with the package, its module stands in for the script. npm pack in the repository makes it.',
    live: true,
    pieces: (wish) => [
      {
        into: 'the post',
        text: `${elementInJsx(wish)}<script type="module" async src="${scriptAddress(wish)}"></script>\n`,
      },
      {
        into: 'an app with the package',
        text: `import { configure } from 'superpose/embed';
configure({ home: ${quoted(wish.home)}, model: ${quoted(`${wish.home}model/`)} });
`,
      },
    ],
  },
  file: {
    label: 'One file',
    says: 'It opens from disk too.',
    live: true,
    saves: 'html',
    pieces: () => [],
  },
} satisfies Record<string, Platform>;

export type PlatformName = keyof typeof platforms;
