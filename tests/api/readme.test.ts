// Runs the README's example as a reader would.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { familyIds, loadMiniLM, modelFamilies, sharesOf } from 'superpose';
import { expect, test } from 'vitest';
import { plain } from './support/builds.ts';
import { describeModel } from './support/model.ts';
import { sum } from './support/numbers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const example = () => {
  const section = readFileSync(`${root}README.md`, 'utf8').split(/^## Use it from Node$/m)[1] ?? '';
  return section.match(/^```js\n([\s\S]*?)^```$/m)?.[1] ?? '';
};

/** Numbers are printed in arrays: returns the numbers of each, in the order of the output. */
const arraysOf = (text: string) =>
  [...text.matchAll(/\[([^\]]*)\]/g)].map(
    ([, inside]) => (inside as string).match(/-?\d[\d.e+-]*/g)?.map(Number) ?? [],
  );

test('it lists the families that can be read', () => {
  const [, list = ''] =
    readFileSync(`${root}README.md`, 'utf8').match(/These\s+can be read: ([^.]*)\./) ?? [];
  const names = list.replace(/\s+/g, ' ').split(/, (?:and )?/);
  expect(names).toEqual(familyIds.map((family) => modelFamilies[family].name));
});

describeModel('the example in README.md', () => {
  test('is short and imports what is public', () => {
    const lines = example().trim().split('\n');
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(lines[0]).toContain("from 'superpose'");
  });

  test('runs, and prints the shares of every head and a row of logits that is the sum of its terms', async () => {
    // Inside the checkout, where the package resolves its own name.
    const file = `${root}build/readme-example.mjs`;
    await writeFile(file, example());
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: root });
    await rm(file);

    const minilm = await loadMiniLM(plain);
    const text = example().match(/decompose\('([^']*)'/)?.[1] as string;
    const parts = example().match(/const groups = (\{[^}]*\});/)?.[1];
    const groups = parts && JSON.parse(parts.replace(/(\w+):/g, '"$1":').replaceAll("'", '"'));
    const scores = await minilm.decompose(text, groups && { groups });

    const [shares, rest] = stdout.split(/^(?=logits)/m) as [string, string];
    const byHead = arraysOf(shares);
    expect(byHead).toHaveLength(12);
    for (const [head, printed] of byHead.entries()) {
      expect(printed).toEqual([...sharesOf(scores, head)]);
      expect(sum(printed)).toBeCloseTo(1, 12);
    }
    const [logits, ...terms] = arraysOf(rest) as [number[], ...number[][]];
    expect(logits).toHaveLength(scores.n);
    expect(terms).toHaveLength(scores.parts.length ** 2);
    for (const [key, logit] of logits.entries()) {
      expect(sum(terms.map((term) => term[key] as number))).toBeCloseTo(logit, 12);
    }
  });
});
