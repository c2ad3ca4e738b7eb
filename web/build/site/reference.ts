// Builds api/, the reference: every public type and function with its documentation, from the types that the
// compiler wrote, and the examples with what they return.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { escaped } from '../../plot/svg.js';

const root = resolve(import.meta.dirname, '../../..');
const types = resolve(root, 'build/package');

export interface Declared {
  name: string;
  doc: string;
  code: string;
  /** The functions, if it is an interface of functions. */
  members: Declared[];
}

interface Example {
  name: string;
  what: string;
  source: string;
  code: string;
}

interface Examples {
  examples: Example[];
  runExample(superpose: unknown, example: Example): Promise<unknown>;
}

type Answered = Example & { answer: string };

const comment = String.raw`(?:\/\*\*([\s\S]*?)\*\/\s*)?`;
const plain = (doc = '') =>
  doc
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join(' ')
    .trim();

/**
 * Returns what a .d.ts file declares, with its comments. It relies on the layout that the compiler writes.
 */
export function declarations(text: string): Declared[] {
  const list: Declared[] = [];
  const start = new RegExp(
    `^${comment}(export (?:declare )?(?:interface|type|class|function|const) (\\w+))`,
    'gm',
  );
  for (const match of text.matchAll(start)) {
    const [, doc, , name = ''] = match;
    const from = text.indexOf('export', match.index + match[0].lastIndexOf('export'));
    // A declaration ends with a brace at the margin, or with an unindented line that ends in a semicolon.
    const rest = text.slice(from);
    const end = rest.match(/^}.*$|^(?! ).*;$/m);
    const code = end ? rest.slice(0, (end.index ?? 0) + end[0].length) : rest;
    list.push({ name, doc: plain(doc), code, members: name.endsWith('Api') ? membersOf(code) : [] });
  }
  return list;
}

function membersOf(code: string): Declared[] {
  const inside = code.slice(code.indexOf('{') + 1, code.lastIndexOf('}'));
  const member = new RegExp(`^ {4}${comment}((\\w+)[<(:][\\s\\S]*?;)$(?=\\n {4}\\S|\\n*$(?!\\n))`, 'gm');
  return [...inside.trimEnd().matchAll(member)].map(([, doc, signature = '', name = '']) => ({
    name,
    doc: plain(doc),
    code: signature.replace(/^ {4}/gm, ''),
    members: [],
  }));
}

const read = (file: string) => readFileSync(resolve(types, file), 'utf8');

/** Returns the files all of whose types a file re-exports, directly or through others. */
const starred = (file: string): string[] =>
  [...read(file).matchAll(/^export type \* from '(.+)\.js';/gm)].flatMap(([, path = '']) => {
    const target = posix.join(posix.dirname(file), `${path}.d.ts`);
    return [target, ...starred(target)];
  });

/** Returns what index.d.ts exports, and the groups of functions that the library consists of. */
export function publicDeclarations(): Declared[] {
  const index = read('index.d.ts');
  const files = readdirSync(types, { encoding: 'utf8', recursive: true }).filter(
    (file) => file.endsWith('.d.ts') && file !== 'index.d.ts' && !/^(node|embed)\//.test(file),
  );
  const lists = starred('index.d.ts');
  const exported = ['index.d.ts', ...lists].flatMap((file) =>
    [...read(file).matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list = '']) => list),
  );
  const names = new Set(exported.join().match(/\w+/g));
  const all = files.flatMap((file) =>
    declarations(read(file)).filter(
      ({ name, code }) =>
        names.has(name) || (lists.includes(file) && /^export (?:interface|type)/.test(code)),
    ),
  );
  return [...declarations(index), ...all];
}

/** Prints a value: numbers with six digits, arrays of any type in brackets. */
function printed(value: unknown): string {
  if (typeof value === 'number') return String(Number(value.toPrecision(6)));
  if (ArrayBuffer.isView(value) || Array.isArray(value))
    return `[${Array.from(value as Iterable<unknown>, printed).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([name, member]) => `${name}: ${printed(member)}`)
      .join(', ')} }`;
  return String(value);
}

/** Runs every example in plain SIMD, which gives the same numbers on every machine. */
async function runExamples(): Promise<Answered[]> {
  const from = (file: string) => import(pathToFileURL(resolve(root, file)).href);
  const { examples, runExample }: Examples = await from('docs/examples.mjs');
  const superpose = await (await from('build/package/index.js')).load({ simd: 'plain' });
  const answers: Answered[] = [];
  for (const example of examples)
    answers.push({ ...example, answer: printed(await runExample(superpose, example)) });
  return answers;
}

const section = ({ name, doc, code }: Declared, examples: readonly Answered[]): string => `
      <section id="${name}">
        <h3>${name}</h3>
        ${doc && `<p>${escaped(doc)}</p>`}
        <pre><code>${escaped(code)}</code></pre>${examples
          .filter((example) => example.name === name)
          .map(
            (example) =>
              `\n        <p>Example: ${escaped(example.what)} (${escaped(example.source)}).</p>\n        <pre class="example"><code>${escaped(example.code)}</code></pre>\n        <pre class="answer">${escaped(example.answer)}</pre>`,
          )
          .join('')}
      </section>`;

function referencePage(all: readonly Declared[], examples: readonly Answered[], pageStyles: string): string {
  const functions = all.flatMap(({ members }) => members);
  const others = all.filter(({ members }) => members.length === 0);
  const links = (list: readonly Declared[]) =>
    list.map(({ name }) => `<a href="#${name}">${name}</a>`).join(' ');
  return readingPage({
    title: 'API reference',
    description: 'Every function and type of the library, with arguments, units, ranges, errors and sources.',
    home: '../',
    pageStyles,
    main: `<h1>API reference</h1>
      <p>From the types of the package. Functions belong to what <a href="#load">load()</a> returns. In examples, <code>superpose</code> is that, and <code>tables(superpose)</code> gives five tokens and five positions of width 8. <a href="../">The page</a></p>
      <nav aria-label="Functions"><h2>Functions</h2><p>${links(functions)}</p></nav>
      <nav aria-label="Types and the rest"><h2>Types and the rest</h2><p>${links(others)}</p></nav>
      <h2>Functions in full</h2>${functions.map((declared) => section(declared, examples)).join('')}
      <h2>Types and the rest in full</h2>${others.map((declared) => section(declared, [])).join('')}`,
  });
}

/** A page of text without scripts: the reference, or source code. */
interface ReadingPage {
  title: string;
  description: string;
  /** The path from this page to the site's folder, such as "../". */
  home: string;
  /** What `pageStylesOf` returns. */
  pageStyles: string;
  /** The markup inside <main>. */
  main: string;
}

/** The style sheet of the pages of figures, relative to the site’s folder. */
export const pageStylesOf = (bundle: object): string => {
  const file = Object.keys(bundle).find((name) => /^assets\/page-.*\.css$/.test(name));
  if (!file) throw new Error('The build has no style sheet assets/page-….css.');
  return file;
};

export const readingPage = ({
  title,
  description,
  home,
  pageStyles,
  main,
}: ReadingPage): string => `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escaped(title)} · Superpose</title>
    <meta name="description" content="${escaped(description)}" />
    <link rel="icon" href="${home}favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${home}${pageStyles}" />
    <link rel="stylesheet" href="${home}api/reference.css" />
  </head>
  <body>
    <main>
      ${main}
    </main>
  </body>
</html>
`;

export const reference = (dist: string): Plugin => ({
  name: 'reference',
  apply: 'build',
  async writeBundle(_, bundle) {
    const folder = resolve(dist, 'api');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      resolve(folder, 'index.html'),
      referencePage(publicDeclarations(), await runExamples(), pageStylesOf(bundle)),
    );
    const styles = readFileSync(resolve(import.meta.dirname, 'reference.css'), 'utf8');
    writeFileSync(resolve(folder, 'reference.css'), styles);
  },
});
