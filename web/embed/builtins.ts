// What the page has put in the place of the language's own functions, as old libraries do. A figure needs those that are
// listed here; what the build replaces (see arrayFrom in plot/plainCopy.ts) it does not need.

/** Each with something that it does in the language. */
const needed: readonly [name: string, works: () => boolean][] = [
  ['Array.prototype.map', () => [4].map((one, at) => one + at)[0] === 4],
  ['Array.prototype.filter', () => [4, 5].filter((one, at) => at > 0 && one > 4)[0] === 5],
  ['Array.prototype.find', () => [4, 5].find((one) => one > 4) === 5],
  ['Array.prototype.every', () => [4, 5].every((one) => one > 3) && ![4, 5].every((one) => one > 4)],
  ['Array.prototype.some', () => [4, 5].some((one) => one > 4) && ![4, 5].some((one) => one > 5)],
  ['Array.prototype.flatMap', () => [4, 5].flatMap((one) => [one, one]).length === 4],
  ['Array.prototype.reduce', () => [4, 5].reduce((sum, one) => sum + one, 3) === 12],
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

/** The names of those that are there no more, or do something else. */
export function replacedBuiltins(): string[] {
  const replaced: string[] = [];
  for (const [name, works] of needed) {
    try {
      if (works()) continue;
    } catch {
      // Then it does not work either.
    }
    replaced.push(name);
  }
  return replaced;
}
