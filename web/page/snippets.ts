// Snippets to paste, which show a figure elsewhere. Each names the figure for screen readers, and links back.
import { writeLink } from '../element/link.js';
import {
  attributeOf,
  type Control,
  type State,
  type Value,
  written,
  writtenState,
} from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { escaped as inXml } from '../plot/svg.js';

export interface Wish {
  figure: AnyFigure;
  state: State;
  finding: string;
  /** Address of the page of all figures, ending in a slash. */
  home: string;
  version: string;
  theme: 'auto' | 'light' | 'dark';
  /** Names of the settings that the reader can change. */
  keep: readonly string[];
  width: number;
  height: number;
}

const latex: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  // BibTeX counts braces, escaped or not.
  '{': '\\textbraceleft{}',
  '}': '\\textbraceright{}',
};

/** Texts may come from a stranger's link; each is escaped for what reads it, and for templates before that. */
const texts = {
  html: (text: string) => inXml(text).replace(/[{}]/g, (sign) => `&#${sign.charCodeAt(0)};`),
  markdown: (text: string) => text.replace(/[[\]\\*_`<>{}%&$~|]/g, '\\$&'),
  latex: (text: string) => text.replace(/[\\{}$&#_%~^]/g, (sign) => latex[sign] ?? `\\${sign}`),
};
const escaped = texts.html;

const controlsOf = ({ figure }: Wish) => Object.entries(figure.controls as Record<string, Control>);

/** A link to the same view on the page. */
export const linkTo = ({ figure, state, home }: Wish): string =>
  home + writeLink(figure.name, figure.controls, state);

const isFirstView = (wish: Wish): boolean =>
  controlsOf(wish).every(
    ([name, control]) => written(control, wish.state[name] as Value) === written(control, control.initial),
  );

export const keepsAll = (wish: Wish) => controlsOf(wish).every(([name]) => wish.keep.includes(name));
const described = ({ figure, finding }: Wish) =>
  escaped(`${figure.title.replace(/(?<![?!])$/, '.')} ${finding}`);

/** The address for a frame that shows the figure in this state. */
export function frameAddress(wish: Wish): string {
  const { figure, state, home, theme, keep } = wish;
  const extras = new URLSearchParams([
    ...(theme === 'auto' ? [] : [['theme', theme]]),
    ...(keepsAll(wish) ? [] : [['keep', keep.join(' ')]]),
  ]).toString();
  return `${home}figures/${figure.name}/${writeLink(figure.name, figure.controls, state)}${extras && `&${extras}`}`;
}

export const iframe = (
  wish: Wish,
): string => `<iframe src="${escaped(frameAddress(wish))}" title="${escaped(wish.figure.title)}" width="${wish.width}" height="${wish.height}" style="border:0;max-width:100%" sandbox="allow-scripts allow-popups allow-downloads" loading="lazy"></iframe>
<p><a href="${escaped(linkTo(wish))}">${escaped(wish.figure.title)}, in Superpose</a></p>
<script src="${escaped(wish.home)}resize.js"></script>
`;

/** Attributes of the element: settings unlike the first view's, a theme, and what the reader can change. */
function attributesOf(wish: Wish): [name: string, text: string][] {
  const { figure, state, theme, keep } = wish;
  return [
    ['name', figure.name],
    ...controlsOf(wish).flatMap(([name, control]): [string, string][] => {
      const text = written(control, state[name] as Value);
      return text === written(control, control.initial) ? [] : [[attributeOf(name), text]];
    }),
    ...(theme === 'auto' ? [] : [['theme', theme] as [string, string]]),
    ...(keepsAll(wish) ? [] : [['keep', keep.join(' ')] as [string, string]]),
  ];
}

/** The site's picture, which has both themes, in the one that was chosen. */
const widePicture = ({ home, figure, theme }: Wish): string =>
  `${home}pictures/${figure.name}-wide.svg${theme === 'auto' ? '' : `#${theme}`}`;
export const scriptAddress = ({ home, version }: Wish): string => `${home}embed-${version}.js`;

const inTag = (attributes: [string, string][]): string =>
  attributes.map(([name, text]) => ` ${name}="${escaped(text)}"`).join('');

/** The element with its picture; `close` ends empty tags. */
export const element = (wish: Wish, close = ''): string => `<superpose-figure${inTag(attributesOf(wish))}>
  <a href="${escaped(linkTo(wish))}"><img src="${escaped(widePicture(wish))}" alt="${escaped(wish.figure.title)}" width="${wish.width}" style="max-width:100%;height:auto" loading="lazy"${close}></a>
</superpose-figure>
`;

export const scriptTag = (wish: Wish): string =>
  `${element(wish)}<script type="module" src="${escaped(scriptAddress(wish))}"></script>\n`;

/** The site has a picture of the first view. Of any other, the author saves one beside the page. */
export const pictureAddress = (wish: Wish): string =>
  isFirstView(wish) ? widePicture(wish) : `${wish.figure.name}.svg`;

export function markdown(wish: Wish): string {
  const text = texts.markdown(`${wish.figure.title}. ${wish.finding}`);
  return `[![${text}](${pictureAddress(wish)})](${linkTo(wish).replace(/[()]/g, encodeURIComponent)})\n`;
}

export const svgTag = (wish: Wish): string =>
  `<a href="${escaped(linkTo(wish))}"><img src="${escaped(pictureAddress(wish))}" alt="${described(wish)}" width="${wish.width}" style="max-width:100%;height:auto"></a>\n`;

const toLatex = texts.latex;

export function bibtex(wish: Wish, year: number): string {
  const { figure, state, version } = wish;
  const settings = writtenState(figure.controls, state).map(([name, text]) => `${name} = ${text}`);
  return `@misc{superpose-${figure.name},
  title = {{${toLatex(figure.title)}}},
  howpublished = {Superpose ${version}, figure ${figure.name}},
  year = {${year}},
  url = {${linkTo(wish).replace(/[{}\\]/g, encodeURIComponent)}},
  note = {State: ${toLatex(settings.join(', '))}}
}
`;
}
