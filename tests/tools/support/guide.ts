// Follows a walk-through of CONTRIBUTING.md to the letter in a copy of the sources.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { root } from '../../package/support/project.ts';

const guide = readFileSync(join(root, '.github/CONTRIBUTING.md'), 'utf8');

/** Makes the files of the section with this heading in `copy`: as many as it says. */
export function follow(heading: string, copy: string): void {
  const section = guide.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const touched = new Set<string>();

  /** Writes a file, or puts text beside or in place of the first line that reads `line` in an existing file. */
  const write = (file: string, side: string | undefined, line: string, text: string) => {
    touched.add(file);
    const path = join(copy, file);
    if (!side) {
      expect(existsSync(path), file).toBe(false);
      mkdirSync(dirname(path), { recursive: true });
      return writeFileSync(path, text);
    }
    const lines = readFileSync(path, 'utf8').split('\n');
    const at = lines.findIndex((one) => one.trim() === line);
    expect(at, `${file} has no line ${line}`).toBeGreaterThan(-1);
    lines.splice(side === 'below' ? at + 1 : at, side === 'in place of' ? 1 : 0, text.replace(/\n$/, ''));
    return writeFileSync(path, lines.join('\n'));
  };

  // The paragraph above a block names its file and, for an existing file, a line in it.
  const blocks = [...section.matchAll(/\n\n([^\n](?:[^\n]|\n(?!\n))*)\n\n```\w+\n([\s\S]*?)^```$/gm)];
  expect(blocks.length).toBeGreaterThan(1);
  for (const [, above = '', code = ''] of blocks) {
    const [, file = '', , side, line = ''] =
      above.match(/`((?:src|web|docs|tests)\/[\w./]+\.\w+)`(, (above|below) `([^`]+)`)?/) ?? [];
    write(file, side, line, code);
  }
  // A table says in its head where its lines go.
  const rows = [...section.matchAll(/^\| (?:in \| (.*?) \| write|`(.*?)` \| `(.*?)` \| `(.*?)`) \|$/gm)];
  expect(rows.length).toBeGreaterThan(2);
  let where = '';
  for (const [, head, file = '', line = '', text = ''] of rows) {
    if (head) {
      where = head === 'in place of' ? head : 'below';
      continue;
    }
    const before = readFileSync(join(copy, file), 'utf8').split('\n');
    const indent = before.find((one) => one.trim() === line)?.match(/^ */)?.[0] ?? '';
    write(file, where, line, indent + text);
  }
  expect(touched.size).toBe(Number(section.match(/It touches (\d+) files/)?.[1]));
}
