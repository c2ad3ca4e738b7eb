// The walk-throughs of CONTRIBUTING.md as lists of edits.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../package/support/project.ts';

export interface Edit {
  file: string;
  /** Where the text goes in an existing file; undefined for a new file. */
  side?: 'above' | 'below' | 'in place of';
  /** The line, without its indentation, that the text goes beside. The first such line counts. */
  anchor: string;
  text: string;
}

export interface WalkThrough {
  heading: string;
  edits: Edit[];
  /** How many files the section says that it touches. */
  files: number;
}

const guide = readFileSync(join(root, '.github/CONTRIBUTING.md'), 'utf8');

/** Every section that says how many files it touches. */
export const walkThroughs: WalkThrough[] = guide
  .split(/^## /m)
  .filter((section) => /It touches \d+ files/.test(section))
  .map((section) => ({
    heading: section.split('\n')[0] as string,
    edits: [...blocks(section), ...tables(section)],
    files: Number(section.match(/It touches (\d+) files/)?.[1]),
  }));

/** The paragraph above a block of code names its file and, for an existing file, a line in it. */
function blocks(section: string): Edit[] {
  const matches = section.matchAll(/\n\n([^\n](?:[^\n]|\n(?!\n))*)\n\n```\w+\n([\s\S]*?)^```$/gm);
  return [...matches].map(([, paragraph = '', text = '']) => {
    const [, file = '', side, anchor = ''] =
      paragraph.match(/`((?:src|web|docs|tests)\/[\w./]+\.\w+)`(?:, (above|below) `([^`]+)`)?/) ?? [];
    return { file, ...(side && { side: side as 'above' | 'below' }), anchor, text };
  });
}

/** The head of a table says where its lines go. */
function tables(section: string): Edit[] {
  const edits: Edit[] = [];
  let side: 'below' | 'in place of' = 'below';
  const rows = section.matchAll(/^\| (?:in \| (.*?) \| write|`(.*?)` \| `(.*?)` \| `(.*?)`) \|$/gm);
  for (const [, head, file = '', anchor = '', text = ''] of rows) {
    if (head) side = head === 'in place of' ? head : 'below';
    else edits.push({ file, side, anchor, text });
  }
  return edits;
}

/** The index of an edit's anchor among the lines of its file; -1 if it is not there. */
export const anchorIn = (lines: readonly string[], { anchor }: Edit): number =>
  lines.findIndex((line) => line.trim() === anchor);

/** The lines of a file of a checkout; undefined if there is none. */
export function linesOf(checkout: string, file: string): string[] | undefined {
  const path = join(checkout, file);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : undefined;
}
