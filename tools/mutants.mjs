// One small change at a time to a source text: a sign, an operator, a bound, a constant, a statement left out. Works
// on the text of C++ and TypeScript as clang-format and Biome write it; what is in comments and strings stays.

/** Rules by kind: a pattern over the text without comments and strings, and what comes in place of what it finds. */
const rules = [
  ['sign', / [+-] /g, (found) => (found === ' + ' ? ' - ' : ' + ')],
  ['sign', /(?<=[=(,] |[([])-(?=[\w(])/g, () => ''],
  ['operator', / [*/] /g, (found) => (found === ' * ' ? ' / ' : ' * ')],
  ['operator', / (?:&&|\|\|) /g, (found) => (found === ' && ' ? ' || ' : ' && ')],
  [
    'operator',
    / (?:===|!==|==|!=) /g,
    (found) => ` ${found.includes('!') ? '=' : '!'}${found.trim().slice(1)} `,
  ],
  ['operator', / [+*/-]= /g, (found) => ({ '+': ' -= ', '-': ' += ', '*': ' /= ', '/': ' *= ' })[found[1]]],
  ['operator', /(?<=[\s(])!(?=[\w(])/g, () => ''],
  ['operator', /\b(?:max|min)(?=\()/g, (found) => (found === 'max' ? 'min' : 'max')],
  ['operator', /\b(?:true|false)\b/g, (found) => (found === 'true' ? 'false' : 'true')],
  [
    'bound',
    / (?:<|<=|>|>=) /g,
    (found) => ({ '<': ' <= ', '<=': ' < ', '>': ' >= ', '>=': ' > ' })[found.trim()],
  ],
  // Whole numbers and decimals that stand alone; not parts of names, nor of hexadecimals and exponents.
  ['constant', /(?<![\w.$])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])/g, (found) => constant(found)],
  [
    'statement',
    /(?<=[;{}]\s*\n) *(?!return|break|continue|throw|case|default|using|else|const |let |export|import|declare)[a-z][^;{}]*;(?=\n)/g,
    (found) => (isStatement(found) ? found.replace(/\S[\s\S]*/, ';') : undefined),
  ],
];

const constant = (text) => (/e/.test(text) ? `(1e3 * ${text})` : String(Number(text) + 1));

/** A call or an assignment, and no declaration, which would only fail to compile. */
const isStatement = (text) =>
  /^\s*[\w.[\]\->()]+(?:\(| [+*/-]?= |\+\+|--)/.test(text) && !/^\s*\w+ \w+/.test(text);

/** The text with spaces in place of what its comments and strings hold, as long as before. */
export function masked(text) {
  const blank = (found) => found.replace(/[^\n]/g, ' ');
  return text
    .replace(
      /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/(?![\s*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*(?=[.,;)\s])/g,
      blank,
    )
    .replace(
      /^\s*(?:#|template\b|using\b|static_assert\b|import\b|export (?:type )?\{|export type\b|export \*|type \w)[^\n]*/gm,
      blank,
    )
    .replace(/^(?:export )?(?:declare )?interface \w[\s\S]*?^\}/gm, blank)
    .replace(/^(?:import|export(?: type)?) (?:type )?\{[^}]*\} from[^\n]*/gm, blank);
}

/** All changes of a text: { kind, at, from, to, line }, in its order. */
export function mutantsOf(text) {
  const code = masked(text);
  const found = rules.flatMap(([kind, pattern, change]) =>
    [...code.matchAll(pattern)].flatMap((match) => {
      const from = match[0];
      const to = change(from);
      if (to === undefined || to === from) return [];
      return [
        {
          kind,
          at: match.index,
          from,
          to,
          line: code.slice(0, match.index + from.search(/\S/)).split('\n').length,
        },
      ];
    }),
  );
  return found.sort((a, b) => a.at - b.at);
}

export const mutated = (text, { at, from, to }) => text.slice(0, at) + to + text.slice(at + from.length);

/** Draws that are the same for the same seed: 0 up to 1 (mulberry32). */
export function drawing(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` of the changes, drawn file by file in turn, so that small files have as many as large ones have to give. */
export function chosen(files, count, seed) {
  const draw = drawing(seed);
  const left = Object.entries(files).map(([file, text]) => {
    const mutants = mutantsOf(text).map((mutant) => ({ file, ...mutant }));
    for (let at = mutants.length - 1; at > 0; at--) {
      const other = Math.floor(draw() * (at + 1));
      [mutants[at], mutants[other]] = [mutants[other], mutants[at]];
    }
    return mutants;
  });
  const taken = [];
  while (taken.length < count && left.some((mutants) => mutants.length > 0)) {
    for (const mutants of left) if (mutants.length > 0 && taken.length < count) taken.push(mutants.pop());
  }
  return taken;
}
