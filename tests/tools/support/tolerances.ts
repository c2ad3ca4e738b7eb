// How far an oracle's numbers may lie from the committed ones: the last column of the table in
// tests/reference/README.md, read as it stands there.

interface Rule {
  /** What a key on the way to the number is called; anything, if undefined. */
  key?: RegExp;
  allows(theirs: number, ours: number, row: number): boolean;
}

const notations: [RegExp, (...found: number[]) => Rule['allows']][] = [
  [/^exact$/, () => (theirs, ours) => theirs === ours],
  [
    /^(\S+)$/,
    (size = 0) =>
      (theirs, ours) =>
        Math.abs(theirs - ours) <= size,
  ],
  [
    /^(\S+) relative$/,
    (part = 0) =>
      (theirs, ours) =>
        Math.abs(theirs - ours) <= part * Math.abs(theirs),
  ],
  [
    /^(\S+) relative or (\S+)$/,
    (part = 0, size = 0) =>
      (theirs, ours) =>
        Math.abs(theirs - ours) <= Math.max(part * Math.abs(theirs), size),
  ],
  [
    /^(\S+) of the row$/,
    (part = 0) =>
      (theirs, ours, row) =>
        Math.abs(theirs - ours) <= part * row,
  ],
];

/** By oracle, the rules for its numbers, of which the last that fits is the one that counts. */
export function rulesOf(readme: string): Map<string, Rule[]> {
  const [table = ''] = readme.match(/^\| file \| formula \| tolerance \|\n(\|.*\n)+/m) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm)];
  return new Map(rows.map(([, oracle = '', column = '']) => [oracle, column.split('; ').flatMap(rulesIn)]));
}

function rulesIn(clause: string): Rule[] {
  const [tolerance = '', keys] = clause.split(' in ');
  for (const [pattern, allows] of notations) {
    const numbers = tolerance.match(pattern)?.slice(1).map(Number);
    if (!numbers || numbers.some(Number.isNaN)) continue;
    const rule = { allows: allows(...numbers) };
    if (!keys) return [rule];
    return [...keys.matchAll(/`([\w*]+)`/g)].map(([, key = '']) => ({
      ...rule,
      key: new RegExp(`^${key.replaceAll('*', '.*')}$`),
    }));
  }
  throw new Error(`tests/reference/README.md has a tolerance that cannot be read: ${clause}`);
}

/** Where `ours` is further from `theirs` than allowed, at most ten of them, each as a sentence. */
export function differences(theirs: unknown, ours: unknown, rules: Rule[]): string[] {
  const found: string[] = [];
  compare(theirs, ours, [], 0);
  return found;

  function compare(one: unknown, other: unknown, path: string[], row: number): void {
    if (found.length >= 10) return;
    const isList = Array.isArray(one);
    if (isList !== Array.isArray(other) || !isObject(one) || !isObject(other)) {
      if (!same(one, other, path, row))
        found.push(`${path.join('.')} is ${JSON.stringify(one)}, and now ${JSON.stringify(other)}`);
      return;
    }
    const largest = isList
      ? Math.max(...one.map((item) => (typeof item === 'number' ? Math.abs(item) : 0)))
      : 0;
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
      compare(one[key], other[key], [...path, key], largest);
  }

  function same(one: unknown, other: unknown, path: string[], row: number): boolean {
    if (typeof one !== 'number' || typeof other !== 'number' || Number.isInteger(one)) return one === other;
    const rule = rules.findLast(({ key }) => !key || path.some((step) => key.test(step)));
    return rule?.allows(one, other, Math.max(row, Math.abs(one))) ?? false;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
