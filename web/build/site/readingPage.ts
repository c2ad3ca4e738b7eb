// Writes a page of text, such as the reference or source code, that looks like the pages of figures.
import { escaped } from '../../plot/svg.js';

interface ReadingPage {
  title: string;
  description: string;
  /** The path from this page to the site's folder, such as "../". */
  home: string;
  files: PageFiles;
  /** The markup inside <main>. */
  main: string;
  /** Whether the page has a filter. */
  filtered?: boolean;
}

const fileIn = (bundle: object, pattern: RegExp): string => {
  const file = Object.keys(bundle).find((name) => pattern.test(name));
  if (!file) throw new Error(`The build has no file ${pattern}.`);
  return file;
};

/** The files of the build that these pages have, relative to the site’s folder. */
export interface PageFiles {
  /** The style sheet of the pages of figures. */
  styles: string;
  /** The font of that style sheet, which a page shows only if the font comes in time. */
  font: string;
  /** The script that filters the reference. */
  filter: string;
}

export const pageFilesOf = (bundle: object): PageFiles => ({
  styles: fileIn(bundle, /^assets\/page-.*\.css$/),
  font: fileIn(bundle, /^assets\/source-sans-3-latin-.*\.woff2$/),
  filter: fileIn(bundle, /^assets\/filter-.*\.js$/),
});

export const readingPage = ({
  title,
  description,
  home,
  files: { styles, font, filter },
  main,
  filtered = false,
}: ReadingPage): string => `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src ${filtered ? "'self'" : "'none'"}; object-src 'none'; base-uri 'none'; form-action 'none'" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escaped(title)} · Superpose</title>
    <meta name="description" content="${escaped(description)}" />
    <link rel="preload" as="font" type="font/woff2" crossorigin href="${home}${font}" />
    <link rel="icon" href="${home}favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${home}${styles}" />
    <link rel="stylesheet" href="${home}api/reference.css" />${filtered ? `\n    <script type="module" src="${home}${filter}"></script>` : ''}
  </head>
  <body>
    <main>
      ${main}
    </main>
  </body>
</html>
`;
