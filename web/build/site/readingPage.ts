// A page without scripts, only to read: for the reference and the code.
import { escaped } from '../../plot/svg.js';

export interface ReadingPage {
  title: string;
  description: string;
  /** The path from this page to the site's folder, such as "../". */
  home: string;
  /** The markup inside <main>. */
  main: string;
}

export const readingPage = ({ title, description, home, main }: ReadingPage): string => `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escaped(title)} · Superpose</title>
    <meta name="description" content="${escaped(description)}" />
    <link rel="icon" href="${home}favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${home}api/reference.css" />
  </head>
  <body>
    <main>
      ${main}
    </main>
  </body>
</html>
`;
