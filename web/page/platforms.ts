// Lists the platforms of the Embed dialog: what to paste there and where each piece goes. `npm run hosts`
// builds sites with these texts.
import {
  bibtex,
  type EmbedRequest,
  element,
  iframe,
  markdown,
  scriptAddress,
  scriptTag,
  svgTag,
} from './snippets.js';

export interface Piece {
  /** The file or other place where the text goes. */
  into: string;
  text: string;
}

export interface Platform {
  label: string;
  /** What the platform is for, and what it needs. */
  says: string;
  /** Whether the figure is live there. */
  live: boolean;
  /**
   * The kind of files to save: pictures beside the pasted text, unless the site has them, or one file instead
   * of it.
   */
  saves?: 'svg' | 'html';
  pieces(request: EmbedRequest): Piece[];
}

const quote = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

export const platforms = {
  html: {
    label: 'HTML with scripts',
    says: 'Part of your page: figures share one module and, with the same group="…", their sliders.',
    live: true,
    saves: 'svg',
    pieces: (request) => [{ into: 'the page', text: scriptTag(request) }],
  },
  frame: {
    label: 'No scripts (frame)',
    says: 'For most blogs; isolated from your page. The last line, a script, is optional: it keeps the frame’s height and theme right. Leave it out where scripts are removed or a policy refuses them.',
    live: true,
    pieces: (request) => [{ into: 'the page', text: iframe(request) }],
  },
  picture: {
    label: 'No frames (picture)',
    says: 'A picture with a link to the figure.',
    live: false,
    saves: 'svg',
    pieces: (request) => [
      { into: 'Markdown', text: markdown(request) },
      { into: 'HTML', text: svgTag(request) },
      { into: 'a .bib file', text: bibtex(request, new Date().getFullYear()) },
    ],
  },
  mdx: {
    label: 'MDX or React',
    says: 'In an app with the package, its module stands in for the script. npm pack in the repository makes it. Put pictures that you save into the app’s public folder, and write their addresses from the root, such as /pictures/figure.svg.',
    live: true,
    saves: 'svg',
    pieces: (request) => [
      {
        into: 'the post',
        text: `${element(request, 'jsx')}<script type="module" async src="${scriptAddress(request)}"></script>\n`,
      },
      {
        into: 'an app with the package',
        text: `import { configure } from 'add-or-concatenate/embed';
configure({ home: ${quote(request.home)}, model: ${quote(`${request.home}model/`)} });
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
