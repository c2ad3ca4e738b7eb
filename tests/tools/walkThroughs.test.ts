// The walk-throughs of CONTRIBUTING.md fit the sources: every line that a text goes beside is there, and
// every new file is new. contributing.long.test.ts follows the walk-throughs and tests the result.
import { describe, expect, test } from 'vitest';
import { root } from '../package/support/project.ts';
import { anchorIn, linesOf, walkThroughs } from './support/walkThroughs.ts';

test('there is a walk-through for each kind of change that README.md names', () => {
  const headings = walkThroughs.map(({ heading }) => heading);
  for (const what of ['a figure', 'an encoding', 'a measurement', 'a scheme', 'a family']) {
    expect(headings).toContain(`Adding ${what}`);
  }
});

describe.each(walkThroughs)('$heading', ({ edits, files }) => {
  test('it touches as many files as it says', () => {
    expect(edits.length).toBeGreaterThan(1);
    expect(new Set(edits.map(({ file }) => file)).size).toBe(files);
  });

  const named = edits.map((edit) => [`${edit.file}, ${edit.side ?? 'new'} ${edit.anchor}`, edit] as const);
  test.each(named)('%s', (_, edit) => {
    const lines = linesOf(root, edit.file);
    if (!edit.side) {
      expect(lines, 'it is new').toBeUndefined();
      return;
    }
    expect(lines, 'it exists').toBeDefined();
    expect(anchorIn(lines ?? [], edit), 'a line reads so').toBeGreaterThan(-1);
  });
});
