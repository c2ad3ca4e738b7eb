// Finds the functions of the language that figures need and that the page has replaced, as old libraries do.
// Figures do not need Array.from, which the build replaces (see arrayFrom in plot/plainCopy.ts).

/** Each function with an example of what it does in the language. */
const needed: readonly [name: string, works: () => boolean][] = [
  ['Array.prototype.map', () => [4].map((value, at) => value + at)[0] === 4],
  ['Array.prototype.filter', () => [4, 5].filter((value, at) => at > 0 && value > 4)[0] === 5],
  ['Array.prototype.find', () => [4, 5].find((value) => value > 4) === 5],
  ['Array.prototype.every', () => [4, 5].every((value) => value > 3) && ![4, 5].every((value) => value > 4)],
  ['Array.prototype.some', () => [4, 5].some((value) => value > 4) && ![4, 5].some((value) => value > 5)],
  ['Array.prototype.flatMap', () => [4, 5].flatMap((value) => [value, value]).length === 4],
  ['Array.prototype.reduce', () => [4, 5].reduce((sum, value) => sum + value, 3) === 12],
  ['Array.prototype.includes', () => [4].includes(4) && ![4].includes(5)],
  ['Array.prototype.indexOf', () => [4, 5].indexOf(5) === 1],
  ['Array.prototype.reverse', () => [4, 5].reverse()[0] === 5],
  ['Object.keys', () => Object.keys({ a: 4 }).join() === 'a'],
  ['Object.values', () => Object.values({ a: 4 }).join() === '4'],
  ['Object.entries', () => Object.entries({ a: 4 }).join() === 'a,4'],
  ['Object.fromEntries', () => Object.fromEntries([['a', 4]]).a === 4],
  ['String.prototype.startsWith', () => 'ab'.startsWith('a') && !'ab'.startsWith('b')],
  ['String.prototype.replace', () => 'aa'.replace(/a/g, 'b') === 'bb'],
  ['Function.prototype.bind', () => ((a: number, b: number) => a - b).bind(undefined, 5)(4) === 1],
];

/** The names of the functions that are missing or do something else. */
export function replacedBuiltins(): string[] {
  const replaced: string[] = [];
  for (const [name, works] of needed) {
    try {
      if (works()) continue;
    } catch {
      // A function that throws does not work either.
    }
    replaced.push(name);
  }
  return replaced;
}
