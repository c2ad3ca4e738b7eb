// Where people write, and what to paste there: the pieces of a snippet, and where each goes. `npm run hosts`
// builds sites with these very texts.
import {
  attributesOf,
  bibtex,
  element,
  frameAddress,
  iframe,
  inTag,
  linkTo,
  markdown,
  pictureAddress,
  scriptAddress,
  scriptTag,
  svgTag,
  toLatex,
  type Wish,
} from './snippets.js';

export type Kind = 'iframe' | 'script' | 'markdown' | 'svg' | 'file' | 'link' | 'cite';

export interface Piece {
  /** A file, or another place that the text goes to. */
  into: string;
  text: string;
}

export interface Platform {
  label: string;
  /** A site of tests/hosts is built with these texts, and opened. */
  tested?: true;
  /** What must be set up there first, or does not work there. */
  says?: string;
  /** The picture that is saved beside the text. */
  picture?: 'svg' | 'png';
  forms: Partial<Record<Kind, (wish: Wish) => Piece[]>>;
}

const post = 'the post';
const one = (into: string, text: (wish: Wish) => string) => (wish: Wish) => [{ into, text: text(wish) }];
const year = () => new Date().getFullYear();
const citation = (wish: Wish): Piece => ({ into: 'the .bib file', text: bibtex(wish, year()) });

/** HTML for JSX, where braces would be code. */
const inJsx = (html: string) => html.replace(/[{}]/g, (brace) => `&#${brace.charCodeAt(0)};`);
const elementInJsx = (wish: Wish) => styledInJsx(elementIn(wish));
const elementIn = (wish: Wish) => inJsx(element(wish, ' /'));
const styledInJsx = (html: string) =>
  html
    .replace('style="border:0;max-width:100%"', "style={{ border: 0, maxWidth: '100%' }}")
    .replace('style="max-width:100%;height:auto"', "style={{ maxWidth: '100%', height: 'auto' }}");
const frameInJsx = (wish: Wish) => styledInJsx(inJsx(iframe(wish))).replace('<script ', '<script async ');
const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** A module for the author's app that gets the figures from the npm package. */
const imported = ({ home }: Wish): Piece => ({
  into: 'a module of the app',
  text: `import { configure } from 'superpose/embed';
configure({ home: ${quoted(home)}, model: ${quoted(`${home}model/`)} });
`,
});
const isElement = "isCustomElement: (tag) => tag === 'superpose-figure'";

/** The element in a site's template. All but the site's address is in the template's own language. */
const template = (wish: Wish, attributes: string, name: string, link: string, title: string) =>
  `<superpose-figure${attributes}>
  <a href="${link}"><img src="${wish.home}pictures/${name}-wide.svg" alt="${title}" width="${wish.width}" style="max-width:100%;height:auto" loading="lazy"></a>
</superpose-figure>
<script type="module" src="${scriptAddress(wish)}"></script>
`;
/** What the post passes to the template. */
const given = (wish: Wish): [string, string][] => [
  ...attributesOf(wish),
  ['link', linkTo(wish)],
  ['title', wish.figure.title],
];
/** Hugo's strings are Go's, and its templates escape what they write. */
const inShortcode = (all: [string, string][]) =>
  all.map(([name, text]) => ` ${name}="${text.replace(/[\\"]/g, '\\$&')}"`).join('');

const inSection = (html: string) => `<section>\n${html}</section>\n`;
const pasted = (before: string, after = '') => ({
  iframe: one(post, (wish) => before + iframe(wish) + after),
  script: one(post, (wish) => before + scriptTag(wish) + after),
});

export const platforms = {
  html: {
    label: 'HTML',
    tested: true,
    forms: {
      iframe: one('the page', iframe),
      script: one('the page', scriptTag),
      markdown: one(post, markdown),
      svg: one('the page', svgTag),
      file: () => [],
      cite: (wish) => [citation(wish)],
    },
  },
  markdown: {
    label: 'Markdown (Jekyll, MkDocs, Eleventy, Hugo)',
    tested: true,
    says: 'Leave an empty line before and after it, and none within. Hugo drops HTML unless markup.goldmark.renderer.unsafe is true; its shortcode needs no such setting.',
    forms: {
      iframe: one(post, iframe),
      script: one(post, scriptTag),
      markdown: one(post, markdown),
    },
  },
  hugo: {
    label: 'Hugo shortcode',
    tested: true,
    forms: {
      script: (wish) => [
        {
          into: 'layouts/shortcodes/superpose.html',
          text: template(
            wish,
            '{{ range $name, $text := .Params }}{{ if not (in (slice "link" "title") $name) }} {{ printf `%s="%s"` $name (htmlEscape $text) | safeHTMLAttr }}{{ end }}{{ end }}',
            '{{ .Get "name" }}',
            '{{ .Get "link" }}',
            '{{ .Get "title" }}',
          ),
        },
        { into: post, text: `{{< superpose${inShortcode(given(wish))} >}}\n` },
      ],
    },
  },
  jekyll: {
    label: 'Jekyll include',
    tested: true,
    forms: {
      script: (wish) => [
        {
          into: '_includes/superpose.html',
          text: template(
            wish,
            '{% for one in include %}{% unless one[0] == "link" or one[0] == "title" %} {{ one[0] }}="{{ one[1] }}"{% endunless %}{% endfor %}',
            '{{ include.name }}',
            '{{ include.link }}',
            '{{ include.title }}',
          ),
        },
        { into: post, text: `{% include superpose.html${inTag(given(wish))} %}\n` },
      ],
    },
  },
  mdx: {
    label: 'MDX or JSX (Docusaurus, Astro)',
    tested: true,
    forms: {
      iframe: one(post, frameInJsx),
      script: one(
        post,
        (wish) => `${elementInJsx(wish)}<script type="module" async src="${scriptAddress(wish)}"></script>\n`,
      ),
      markdown: one(post, (wish) => inJsx(markdown(wish))),
    },
  },
  vitepress: {
    label: 'VitePress',
    tested: true,
    says: 'It takes script tags in its configuration only.',
    forms: {
      iframe: (wish) => {
        const script = `<script src="${wish.home}resize.js"></script>\n`;
        return [
          {
            into: '.vitepress/config, in defineConfig({ … })',
            text: `head: [['script', { src: ${quoted(`${wish.home}resize.js`)} }]],\n`,
          },
          { into: post, text: iframe(wish).replace(script, '') },
        ];
      },
      script: (wish) => [
        {
          into: '.vitepress/config, in defineConfig({ … })',
          text: `head: [['script', { type: 'module', src: ${quoted(scriptAddress(wish))} }]],
vue: { template: { compilerOptions: { ${isElement} } } },
`,
        },
        { into: post, text: element(wish) },
      ],
      markdown: one(post, markdown),
    },
  },
  react: {
    label: 'React',
    tested: true,
    forms: { script: (wish) => [imported(wish), { into: 'a component', text: elementInJsx(wish) }] },
  },
  vue: {
    label: 'Vue',
    tested: true,
    forms: {
      script: (wish) => [
        {
          into: 'vite.config, in plugins',
          text: `vue({ template: { compilerOptions: { ${isElement} } } }),\n`,
        },
        imported(wish),
        { into: 'a template', text: element(wish) },
      ],
    },
  },
  svelte: {
    label: 'Svelte',
    tested: true,
    forms: { script: (wish) => [imported(wish), { into: 'a component', text: elementIn(wish) }] },
  },
  wordpress: {
    label: 'WordPress',
    tested: true,
    says: 'For the block editor, as a block “Custom HTML” or in its code editor. Of authors without the right unfiltered_html WordPress keeps the picture and its link.',
    forms: pasted('<!-- wp:html -->\n', '<!-- /wp:html -->\n'),
  },
  ghost: {
    label: 'Ghost',
    tested: true,
    says: 'For a card “HTML”.',
    forms: pasted('<!--kg-card-begin: html-->\n', '<!--kg-card-end: html-->\n'),
  },
  reveal: {
    label: 'reveal.js slide',
    tested: true,
    forms: {
      // reveal.js would cut the frame off at the end of the slide. What is below moves when the frame gets
      // its height, so the link goes above.
      iframe: one('the slides', (wish) =>
        inSection(
          iframe(wish)
            .replace('max-width:100%', 'max-width:100%;max-height:none')
            .replace(/^(<iframe.*\n)(<p>.*\n)/, '$2$1'),
        ),
      ),
      script: one('the slides', (wish) => inSection(scriptTag(wish))),
    },
  },
  jupyter: {
    label: 'Jupyter',
    tested: true,
    says: 'As a cell of its own. A notebook that is not trusted shows the picture.',
    forms: {
      iframe: one('a cell', (wish) => `%%html\n${iframe(wish)}`),
      script: one('a cell', (wish) => `%%html\n${scriptTag(wish)}`),
    },
  },
  link: {
    label: 'Notion, Medium or Substack',
    says: 'They take a link on a line of its own, and make a card of it or a frame.',
    forms: { link: one(post, (wish) => `${frameAddress(wish)}\n`) },
  },
  latex: {
    label: 'LaTeX',
    picture: 'png',
    forms: {
      svg: (wish) => [
        {
          into: 'the paper',
          text: `\\begin{figure}
  \\centering
  \\includegraphics[width=\\linewidth]{${wish.figure.name}.png}
  \\caption{${toLatex(`${wish.figure.title}. ${wish.finding}`)}~\\cite{superpose-${wish.figure.name}}}
  \\label{fig:${wish.figure.name}}
\\end{figure}
`,
        },
        citation(wish),
      ],
    },
  },
  quarto: {
    label: 'Quarto',
    forms: {
      script: one(post, (wish) => `\`\`\`{=html}\n${scriptTag(wish)}\`\`\`\n`),
      iframe: one(post, (wish) => `\`\`\`{=html}\n${iframe(wish)}\`\`\`\n`),
      svg: (wish) => [
        {
          into: post,
          text: `![${wish.figure.title} [@superpose-${wish.figure.name}]](${pictureAddress(wish)}){#fig-${wish.figure.name}}\n`,
        },
        citation(wish),
      ],
    },
  },
} satisfies Record<string, Platform>;

export type PlatformName = keyof typeof platforms;
