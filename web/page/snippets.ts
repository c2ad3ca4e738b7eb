// Writes snippets that show a figure elsewhere. Each names the figure for screen readers and links back to
// the page.
import { pictureWidths } from '../element/exports.js';
import { writeLink } from '../element/link.js';
import { attributeOf, type Control, type Value, written, writtenState } from '../figures/controls.js';
import { isFirstView } from '../figures/firstView.js';
import { escaped as inXml } from '../plot/svg.js';
import { elementHeight, frameHeight, reserved, type Shown } from './height.js';

/** A figure in a state, and how to show it elsewhere. */
export interface EmbedRequest extends Shown {
  /** Address of the page of all figures, ending in a slash. */
  home: string;
  version: string;
  theme: 'auto' | 'light' | 'dark';
  /** In pixels; in a narrower column the figure shrinks. */
  width: number;
  /** The measured height of a frame of this width, in pixels; without it the height is estimated. */
  height?: number;
}

const latex: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  // BibTeX counts braces, escaped or not.
  '{': '\\textbraceleft{}',
  '}': '\\textbraceright{}',
};

/**
 * Escapes for the languages of snippets, and for templates that may process them. Texts may come from
 * strangers.
 */
const texts = {
  html: (text: string) => inXml(text).replace(/[{}]/g, (sign) => `&#${sign.charCodeAt(0)};`),
  // A percent sign means something only beside a brace, in a template.
  markdown: (text: string) => text.replace(/[[\]\\*_`<>{}&$~|]|(?<=\{)%|%(?=\})/g, '\\$&'),
  latex: (text: string) => text.replace(/[\\{}$&#_%~^]/g, (sign) => latex[sign] ?? `\\${sign}`),
};
const escaped = texts.html;

const controlsOf = ({ figure }: EmbedRequest) => Object.entries(figure.controls as Record<string, Control>);

/** A link to the same view on the page. */
export const linkTo = ({ figure, state, home }: EmbedRequest): string =>
  home + writeLink(figure.name, figure.controls, state);

const showsFirstView = ({ figure, state }: EmbedRequest): boolean => isFirstView(figure.controls, state);

export const keepsAll = (request: EmbedRequest) =>
  controlsOf(request).every(([name]) => request.keep.includes(name));
const described = ({ figure, finding }: EmbedRequest) =>
  escaped(`${figure.title.replace(/(?<![?!])$/, '.')} ${finding}`);

/** The address for a frame that shows the figure in this state. */
export function frameAddress(request: EmbedRequest): string {
  const { figure, state, home, theme, keep } = request;
  const extras = new URLSearchParams([
    ...(theme === 'auto' ? [] : [['theme', theme]]),
    ...(keepsAll(request) ? [] : [['keep', keep.join(' ')]]),
  ]).toString();
  return `${home}figures/${figure.name}/${writeLink(figure.name, figure.controls, state)}${extras && `&${extras}`}`;
}

/** Writes a frame with the figure's page or with a saved file. */
export const frame = (request: EmbedRequest, address: string): string => {
  const height = request.height ?? frameHeight(request, request.width);
  const style = styled([
    ['border', '0'],
    ['max-width', '100%'],
    ['height', reserved(request.width, (column) => frameHeight(request, column), height)],
  ]);
  return `<iframe src="${escaped(address)}" title="${escaped(request.figure.title)}" width="${request.width}" height="${height}"${style} sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads" allow="clipboard-write" loading="lazy"></iframe>\n`;
};

export const iframe = (
  request: EmbedRequest,
): string => `${frame(request, frameAddress(request))}<p><a href="${escaped(linkTo(request))}">${escaped(request.figure.title)}, in Superpose</a></p>
<script src="${escaped(request.home)}resize.js"></script>
`;

/**
 * The element's attributes: settings that differ from the first view, the theme, and what readers can
 * change.
 */
function attributesOf(request: EmbedRequest): [name: string, text: string][] {
  const { figure, state, theme, keep } = request;
  return [
    ['name', figure.name],
    ...controlsOf(request).flatMap(([name, control]): [string, string][] => {
      const text = written(control, state[name] as Value);
      return text === written(control, control.initial) ? [] : [[attributeOf(name), text]];
    }),
    ...(theme === 'auto' ? [] : [['theme', theme] as [string, string]]),
    ...(keepsAll(request) ? [] : [['keep', keep.join(' ')] as [string, string]]),
  ];
}

export type PictureSize = keyof typeof pictureWidths;

/** An FNV-1a digest, so that the pictures of different states have different names. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/**
 * The pictures that the author saves beside the page, which stand in until the figure is live: two, or none
 * for the first view, of which the site has pictures.
 */
export function picturesToSave(request: EmbedRequest): { name: string; width: number }[] {
  if (showsFirstView(request)) return [];
  const { width } = request;
  return (['wide', 'narrow'] as const).map((size) => ({
    name: pictureAddress(request, size),
    width: size === 'narrow' ? pictureWidths.narrow : width,
  }));
}

/**
 * The address of a picture. The site's pictures have both themes and show the one that the address ends in.
 * Their folder is named by the version, because later versions keep it.
 */
export function pictureAddress(request: EmbedRequest, size: PictureSize): string {
  const { figure, theme, home, version } = request;
  if (showsFirstView(request))
    return `${home}pictures/${version}/${figure.name}-${size}.svg${theme === 'auto' ? '' : `#${theme}`}`;
  const parts = [figure.name, digest(linkTo({ ...request, home: '' }))];
  if (theme !== 'auto') parts.push(theme);
  if (size === 'narrow') parts.push(size);
  return `${parts.join('-')}.svg`;
}

/** The displayed size of a picture as attributes, so that the page can reserve its place. */
function pictureSize(
  { figure, data, state, width }: EmbedRequest,
  size: PictureSize,
  isFirst: boolean,
): string {
  const shown = size === 'narrow' ? pictureWidths.narrow : width;
  const drawn = isFirst ? pictureWidths[size] : shown;
  const height = (figure.scene(data, state, drawn).height * shown) / drawn;
  return `width="${shown}" height="${Math.round(height)}"`;
}

export const scriptAddress = ({ home, version }: EmbedRequest): string => `${home}embed-${version}.js`;

const inTag = (attributes: [string, string][]): string =>
  attributes.map(([name, text]) => ` ${name}="${escaped(text)}"`).join('');

/** Whether empty tags, attributes and styles are written as in HTML or as in JSX. */
export type Syntax = 'html' | 'jsx';

function styled(style: readonly [property: string, value: string][], syntax: Syntax = 'html'): string {
  if (syntax === 'html') return ` style="${style.map((declaration) => declaration.join(':')).join(';')}"`;
  const camel = (property: string) =>
    property.replace(/-([a-z])/g, (_, small: string) => small.toUpperCase());
  return ` style={{ ${style.map(([property, value]) => `${camel(property)}: '${value}'`).join(', ')} }}`;
}

/** Windows up to this width show the narrow drawing. */
const narrowWindow = '30rem';

/** The figure's picture with a link to the page, alone or as the element's placeholder. */
function picture(request: EmbedRequest, alt: string, syntax: Syntax = 'html'): string {
  const isFirst = showsFirstView(request);
  const address = (size: PictureSize) => escaped(pictureAddress(request, size));
  const close = syntax === 'jsx' ? ' /' : '';
  const srcset = syntax === 'jsx' ? 'srcSet' : 'srcset';
  const style = styled(
    [
      ['max-width', '100%'],
      ['height', 'auto'],
    ],
    syntax,
  );
  return (
    `<a href="${escaped(linkTo(request))}"><picture>` +
    `<source media="(max-width: ${narrowWindow})" ${srcset}="${address('narrow')}" ${pictureSize(request, 'narrow', isFirst)}${close}>` +
    `<img src="${address('wide')}" alt="${alt}" ${pictureSize(request, 'wide', isFirst)}${style} loading="lazy"${close}></picture></a>`
  );
}

/**
 * Writes the element with its picture. It reserves its future height, so that nothing moves when it becomes
 * live.
 */
export function element(request: EmbedRequest, syntax: Syntax = 'html'): string {
  const style = styled(
    [
      ['display', 'block'],
      ['max-width', `${request.width}px`],
      ['min-height', elementHeight(request, request.width)],
    ],
    syntax,
  );
  return `<superpose-figure${inTag(attributesOf(request))}${style}>
  ${picture(request, escaped(request.figure.title), syntax)}
</superpose-figure>
`;
}

export const scriptTag = (request: EmbedRequest): string =>
  `${element(request)}<script type="module" src="${escaped(scriptAddress(request))}"></script>\n`;

export function markdown(request: EmbedRequest): string {
  const text = texts.markdown(`${request.figure.title}. ${request.finding}`);
  return `[![${text}](${pictureAddress(request, 'wide')})](${linkTo(request).replace(/[()]/g, encodeURIComponent)})\n`;
}

export const svgTag = (request: EmbedRequest): string => `${picture(request, described(request))}\n`;

const toLatex = texts.latex;

export function bibtex(request: EmbedRequest, year: number): string {
  const { figure, state, version } = request;
  const settings = writtenState(figure.controls, state).map(([name, text]) => `${name} = ${text}`);
  return `@misc{superpose-${figure.name},
  title = {{${toLatex(figure.title)}}},
  howpublished = {Superpose ${version}, figure ${figure.name}},
  year = {${year}},
  url = {${linkTo(request).replace(/[{}\\]/g, encodeURIComponent)}},
  note = {State: ${toLatex(settings.join(', '))}}
}
`;
}
