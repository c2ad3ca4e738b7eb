// How far an oracle's numbers may be from the committed ones: the last column of the table in
// tests/reference/README.md, read from there.

interface Rule {
  /** The name of a key on the path to the number; any, if undefined. */
  key?: RegExp;
  allowed(theirs: number, largest: number): number;
}

/** The tolerance, given the number, the largest of its array, and the size in the notation. */
const notations: [RegExp, (theirs: number, largest: number, size: number) => number][] = [
  [/^exact$/, () => 0],
  [/^(\S+)$/, (_theirs, _largest, size) => size],
  [/^(\S+) relative$/, (theirs, _largest, size) => size * Math.abs(theirs)],
  [/^(\S+) of the array$/, (_theirs, largest, size) => size * largest],
];

/** The rules for each oracle's numbers; the last one that fits counts. */
export function rulesOf(readme: string): Map<string, Rule[]> {
  const [table = ''] = readme.match(/^\| file \| formula \| tolerance \|\n(\|.*\n)+/m) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm)];
  return new Map(rows.map(([, oracle = '', column = '']) => [oracle, column.split('; ').flatMap(rulesIn)]));
}

function rulesIn(clause: string): Rule[] {
  const [alternatives = '', keys] = clause.split(' in ');
  const allowances = alternatives.split(' or ').map((tolerance) => {
    for (const [pattern, allowed] of notations) {
      const [found, size = 0] = tolerance.match(pattern) ?? [];
      if (found && !Number.isNaN(Number(size)))
        return (theirs: number, largest: number) => allowed(theirs, largest, Number(size));
    }
    throw new Error(`tests/reference/README.md has a tolerance that cannot be read: ${clause}`);
  });
  const allowed = (theirs: number, largest: number) =>
    Math.max(...allowances.map((one) => one(theirs, largest)));
  if (!keys) return [{ allowed }];
  return [...keys.matchAll(/`([\w*]+)`/g)].map(([, key = '']) => ({
    allowed,
    key: new RegExp(`^${key.replaceAll('*', '.*')}$`),
  }));
}

/** Where `ours` is further from `theirs` than allowed: at most ten sentences. */
export function differences(theirs: unknown, ours: unknown, rules: Rule[]): string[] {
  const found: string[] = [];
  compare(theirs, ours, [], undefined);
  return found;

  function compare(one: unknown, other: unknown, path: string[], largest: number | undefined): void {
    if (found.length >= 10) return;
    const isList = Array.isArray(one);
    if (isList !== Array.isArray(other) || !isObject(one) || !isObject(other)) {
      if (!same(one, other, path, largest))
        found.push(`${path.join('.')} is ${JSON.stringify(one)}, and now ${JSON.stringify(other)}`);
      return;
    }
    // The largest over all rows of an array; a list of objects has none.
    const inside = isList ? (largest ?? largestOf(one)) : undefined;
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
      compare(one[key], other[key], [...path, key], inside);
  }

  function same(one: unknown, other: unknown, path: string[], largest = 0): boolean {
    if (typeof one !== 'number' || typeof other !== 'number') return one === other;
    // Counts and ids. A single whole number may be 0.0, which JSON does not distinguish from 0.
    if (Number.isInteger(one) && Number.isInteger(other)) return one === other;
    const rule = rules.findLast(({ key }) => !key || path.some((step) => key.test(step)));
    return Math.abs(one - other) <= (rule?.allowed(one, Math.max(largest, Math.abs(one))) ?? 0);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const largestOf = (value: unknown): number => {
  if (typeof value === 'number') return Math.abs(value);
  return Array.isArray(value) ? value.reduce((most, item) => Math.max(most, largestOf(item)), 0) : 0;
};
