// Makes web/docs/library.md: a table of all that the library computes, and an example of each with its
// result. Run after a build: node tools/library-docs.mjs
import { writeFile } from 'node:fs/promises';
import { load } from 'superpose';
import { examples, runExample } from '../web/docs/examples.mjs';
import { runTool } from './steps.mjs';

const target = new URL('../web/docs/library.md', import.meta.url);

/** The page, as text. It uses plain SIMD, which gives the same numbers on every machine. */
export async function libraryDocs() {
  const superpose = await load({ simd: 'plain' });
  const kinds = [...new Set(examples.map(({ kind }) => kind))];
  const lines = [
    '# The library, function by function',
    '',
    'Made by `node tools/library-docs.mjs` from `web/docs/examples.mjs`; a test runs it and compares. Arguments, units,',
    'ranges and errors stand in the types, `src/api/`. In every example `superpose` is what `load()` returned, and',
    '`tables(superpose)` gives five tokens and five positions of width 8.',
  ];
  for (const kind of kinds) {
    lines.push('', `## ${kind}`, '', '| function | what it computes | source |', '| --- | --- | --- |');
    for (const { name, what, source } of examples.filter((one) => one.kind === kind)) {
      lines.push(`| \`${name}\` | ${what} | ${source} |`);
    }
    for (const example of examples.filter((one) => one.kind === kind)) {
      const value = await runExample(superpose, example);
      lines.push(
        '',
        `### \`${example.name}\`: ${example.what}`,
        '',
        '```js',
        example.code,
        '```',
        '',
        '```text',
        shown(value),
        '```',
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

/** A value in short: numbers to six digits, arrays of any type in brackets. */
function shown(value) {
  if (typeof value === 'number') return String(Number(value.toPrecision(6)));
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return `[${Array.from(value, shown).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([name, one]) => `${name}: ${shown(one)}`)
      .join(', ')} }`;
  }
  return String(value);
}

runTool(import.meta.url, async () => {
  await writeFile(target, await libraryDocs());
});
