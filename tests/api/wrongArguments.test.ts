// Every function of the library, with each argument made wrong in every way possible for its kind: not
// finite, of another type, of a shape that disagrees, out of range, too large for memory, too large for a
// float. Each is refused before anything is allocated, with a sentence that names the argument and its
// value. complete.test.ts fails for a function without a right call. This runs in one build, because the
// checks are the same in both. Sentences of single functions are in refusals.txt.
import type { Floats, Superpose } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { plain } from './support/builds.ts';
import { methodCalls } from './support/methodCalls.ts';
import { methodsOf } from './support/methods.ts';
import { eachArray, floatsOf, inPrecision } from './support/numbers.ts';
import { changed, faults, type Path, type Refusal } from './support/refusals.ts';
import { type RightCall, rightCalls, table } from './support/rightCalls.ts';

// biome-ignore lint/suspicious/noExplicitAny: wrong arguments are what this file is about.
type Anything = any;
type Call = (...args: unknown[]) => Anything;

const arraysIn = (value: unknown): Floats[] => {
  const problems: Floats[] = [];
  eachArray(value, (values) => {
    problems.push(values);
    return values;
  });
  return problems;
};

/** Members for which any value is accepted. */
const free = ['name', 'begin', 'end'];
/** Members of an earlier result that are only read, not computed with. */
const results = ['residuals', 'shares', 'covariances', 'variances', 'parts'];
const limit = 2 ** 22;
/** The values that the sentence about a wrong name must list. */
const allowed: Record<string, readonly string[]> = {
  layout: ["'interleaved'", "'concatenated'"],
  spacing: ["'d_model'", "'timescales'"],
  kind: ["'layer_norm'", "'rms_norm'"],
  gauge: ["'raw'", "'canonical'"],
  task: ['badge', 'where'],
  table: ['learned', 'sinusoid'],
};

/** The names that sentences have for an argument where the code has another. */
const declared: Record<string, readonly string[]> = {
  centred: ['table'],
  channelRanges: ['table'],
  gram: ['table'],
  rowLengths: ['table'],
};
/** The names of a function's arguments, which sentences use too. */
const argumentsOf = (name: string, call: Call): readonly string[] =>
  declared[name] ??
  (/^(\w+) =>|\(([^)]*)\)/.exec(String(call))?.slice(1).join('') ?? '')
    .split(',')
    .map((name) => name.replace(/=.*/s, '').trim());

interface Wrong extends Refusal {
  what: string;
  path: Path;
  args: unknown[];
}

/**
 * An argument's name in a sentence: what follows the last number on its path, or the list it is an entry of.
 * `names` are the names of the function's arguments.
 */
function nameOf(path: Path, names: readonly string[]): string {
  const inside = path.slice(1);
  while (typeof inside.at(-1) === 'number') inside.pop();
  const inner = inside.slice(inside.findLastIndex((key) => typeof key === 'number') + 1).join('.');
  return inner || (names[path[0] as number] as string);
}

/** Variants of the arguments, each wrong in one place. */
function wrongs(
  args: readonly unknown[],
  integers: NonNullable<RightCall['integers']>,
  names: readonly string[],
): Wrong[] {
  const problems: Wrong[] = [];
  const add = (path: Path, what: string, value: unknown, kind: Refusal['kind'], ...words: string[]) =>
    problems.push({
      what: `${path.join('.')} ${what}`,
      path,
      args: changed(args, path, value),
      kind,
      words: [nameOf(path, names), ...words],
    });
  const numbers = (path: Path) => {
    const range = integers[nameOf(path, names)];
    const what = range ? ['whole number'] : [];
    for (const no of [Number.NaN, Infinity, -Infinity])
      add(path, `= ${no}`, no, RangeError, `${no}`, ...what);
    add(path, 'as null', null, TypeError, 'null', ...what);
    add(path, 'as text', '1', TypeError, '"1"', ...what);
    // Ids may be BigInts.
    if (!/\b(tokens|targets)\b/.test(nameOf(path, names)))
      add(path, 'as a bigint', 1n, TypeError, '1', ...what);
    add(path, 'as an object', {}, TypeError, 'an object', ...what);
    add(path, 'as a list', [1], TypeError, 'an array of 1', ...what);
    add(path, 'as a flag', true, TypeError, 'true', ...what);
    if (!range) return;
    const [low, high = limit] = range;
    add(path, 'too low', low - 1, RangeError, `${low - 1}`, `from ${low} to ${high}`);
    add(path, 'too high', high + 1, RangeError, `${high + 1}`, `from ${low} to ${high}`);
    add(path, 'and a half', low + 0.5, RangeError, `${low + 0.5}`, ...what);
  };
  const texts = (path: Path, last: string) => {
    const words = allowed[last] ?? [];
    // The caller is free to name the summands of a layer.
    if (!path.includes('summands')) {
      for (const no of ['nonesuch', '__proto__', 'constructor'])
        add(path, `= ${no}`, no, RangeError, no, ...words);
    }
    add(path, 'as null', null, undefined, 'null', ...words);
    add(path, 'as a number', 7, undefined, '7', ...words);
  };
  const arrays = (path: Path, value: Float64Array | Float32Array) => {
    // Scores may be NaN, as a share is where nothing varies.
    if (!path.includes('terms') && !path.includes('logits')) {
      for (const [at, no] of [
        [0, -Infinity],
        [0, Number.NaN],
        [1, Number.NaN],
        [value.length - 1, Infinity],
      ] as const) {
        add(path, `with ${no} at ${at}`, value.with(at, no), RangeError, 'finite', `value ${at} is ${no}`);
      }
    }
    add(path, 'one short', value.subarray(1), RangeError, `${value.length - 1}`);
    add(path, 'as a list', [...value], TypeError, 'Float64Array', 'an array of');
    add(path, 'as integers', Int32Array.from(value), TypeError, 'Float64Array', 'an Int32Array');
  };
  const tables = (path: Path, { data, rows }: { data: unknown; rows: number }) => {
    const [ofRows, ofColumns] = [
      [...path, 'rows'],
      [...path, 'columns'],
    ];
    add(path, 'as its data', data, TypeError, 'rows', 'undefined');
    for (const no of [-1, 1e9]) add(ofRows, `= ${no}`, no, RangeError, `${no}`, `from 0 to ${limit}`);
    add(ofRows, 'and a half', rows + 0.5, RangeError, `${rows + 0.5}`, 'whole number');
    problems.push({
      what: `${ofRows.join('.')} one more`,
      path: ofRows,
      args: changed(args, ofRows, rows + 1),
      kind: RangeError,
      words: [nameOf(path, names)],
    });
    add(ofColumns, 'none', 0, RangeError, '0', `from 1 to ${limit}`);
  };
  const visit = (value: unknown, path: Path): void => {
    const last = String(path.at(-1));
    if (free.includes(last) || results.includes(last)) return;
    if (typeof value === 'number') numbers(path);
    else if (typeof value === 'string') texts(path, last);
    else if (typeof value === 'boolean') {
      // The flags of a mask may be any values, which count as true or false.
      if (!Array.isArray(args[2])) add(path, 'as text', 'yes', TypeError, '"yes"');
    } else if (value instanceof Float64Array || value instanceof Float32Array) arrays(path, value);
    else if (value instanceof Uint8Array) {
      add(path, 'one short', value.subarray(1), undefined);
      add(path, 'as a list', [...value], TypeError, 'Uint8Array', 'an array of');
      add(path, 'as its buffer', value.buffer, TypeError, 'Uint8Array', 'an object');
    } else if (typeof value === 'object' && value !== null) {
      const what = Array.isArray(value) ? undefined : 'an object';
      for (const no of [null, 'text', 5])
        add(path, `as ${no}`, no, undefined, `${no}`, ...(what ? [what] : []));
      for (const [name, member] of Object.entries(value)) {
        visit(member, [...path, Array.isArray(value) ? Number(name) : name]);
      }
      if ('data' in value && 'rows' in value && typeof value.rows === 'number') {
        tables(path, value as { data: unknown; rows: number });
      }
    }
  };
  args.forEach((arg, k) => {
    visit(arg, [k]);
  });
  return problems;
}

/** The error of a call; undefined if there is none. */
function errorOf(call: Call, args: readonly unknown[]): unknown {
  try {
    call(...args)?.delete?.();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each(Object.entries(rightCalls))(
  '%s',
  (name, { sound, integers = {}, also = [], anyLength, alsoLists }) => {
    const call = (plain as Anything)[name as keyof Superpose] as Call;
    const right = [sound, ...also];

    test('right calls are no errors', () => {
      for (const args of right) expect(errorOf(call, args)).toBeUndefined();
    });

    test('wrong ones are, in a sentence, before anything is allocated', () => {
      const before = plain.memoryBytes();
      const passed: string[] = [];
      const tried = right.flatMap((args) => wrongs(args, integers, argumentsOf(name, call)));
      for (const { what, path, args, ...refusal } of tried) {
        if (anyLength && what.endsWith(' one short')) continue;
        if (alsoLists && what.endsWith(' as its data')) continue;
        const error = errorOf(call, args);
        const problems = faults(error, refusal);
        if (what.endsWith(' as null')) {
          const leftOut = errorOf(call, changed(args, path, undefined));
          // An optional argument may also be null. A required one is refused with the same error. A default
          // may be out of the range that the other arguments leave.
          if (String(leftOut) === String(error)) problems.length = 0;
          else if (leftOut instanceof RangeError) problems.push(...faults(leftOut, { words: [] }));
          else if (leftOut && String(leftOut) !== String(error).replaceAll('null', 'undefined'))
            problems.push(`left out, ${leftOut}`);
        }
        passed.push(...problems.map((fault) => `${what}: ${fault}`));
        expect(plain.memoryBytes(), what).toBe(before);
      }
      expect(passed).toEqual([]);
      expect(tried.length > 0).toBe(sound.length > 0);
    });
  },
);

test('nothing else answers wrong arguments in the words of the engine', { timeout: 60_000 }, async () => {
  const answers = new Set<string>();
  const methods = (await methodCalls()).flatMap(({ object, calls }) =>
    methodsOf(object).map(([name, call]) => ({ name, call, right: calls[name] ?? [] })),
  );
  for (const { name, call, right } of methods) {
    const paths = right.flatMap((name, k): Path[] => [
      [k],
      ...(k > 0 || right.length === 1 ? Object.keys(Object(name)).map((member) => [k, member]) : []),
    ]);
    for (const path of paths) {
      for (const no of [undefined, null, 5, {}, 'x', Number.NaN, [], true]) {
        const error = await (async () => call(...changed(right, path, no)))().catch((error) => error);
        if (!(error instanceof Error)) continue;
        const isSentence =
          /^[^\n]{10,600}[.)]$/.test(error.message) &&
          !/Cannot |is not (a function|iterable)|undefined \(/.test(error.message);
        if (!isSentence) answers.add(`${name}, ${path.join('.')} = ${no}: ${error.message}`);
      }
    }
  }
  expect([...answers]).toEqual([]);
});

const sized = Object.entries(rightCalls).filter(([, { huge }]) => huge);
test.each(sized)('%s: what would not fit is refused before anything is allocated', (name, { huge = [] }) => {
  const before = plain.memoryBytes();
  const error = errorOf((plain as Anything)[name] as Call, huge);
  expect(error).toBeInstanceOf(RangeError);
  const advice = name === 'decompose' ? 'Decompose fewer heads at a time' : 'Reduce one of the sizes above';
  expect((error as Error).message).toMatch(/would take [\d,]+ MB; at most 1,024 MB fit\. [^.]+\.$/);
  expect((error as Error).message).toContain(` fit. ${advice}`);
  expect(plain.memoryBytes()).toBe(before);
});

/** The part of a call's result that can be compared; a handle is asked for a result. */
const outcomeOf = (call: Call, args: readonly Anything[]) => {
  const problems = call(...args);
  if (typeof problems?.delete !== 'function') return problems;
  const answer =
    problems.nearestTokens?.(0, args[0].tokens.rows) ??
    problems.decompose({ summands: { token: table(3, args[0].query.weight.columns) } });
  problems.delete();
  return answer;
};

// A file keeps the type of the numbers that are written, and transformerStack.test.ts tests both types.
const typed = ['encodeSafetensors', 'transformerStack'];
const ofArrays = Object.entries(rightCalls).filter(
  ([name, { sound }]) => !typed.includes(name) && arraysIn(sound).length > 0,
);
/** Functions whose terms and logits are float32. */
const inFloat = ['decompose', 'layer'];
test.each(ofArrays)('%s: floats are doubles, and results are', (name, { sound, also = [] }) => {
  const call = (plain as Anything)[name] as Call;
  for (const right of [sound, ...also]) {
    const [floats, doubles] = [
      inPrecision(right, 'float32'),
      inPrecision(inPrecision(right, 'float32'), 'float64'),
    ];
    let count = 0;
    const mixed = eachArray(floats, (values) => floatsOf(values, count++ % 2 ? 'float32' : 'float64'));
    const expected = outcomeOf(call, doubles);
    expect(outcomeOf(call, floats)).toEqual(expected);
    expect(outcomeOf(call, mixed)).toEqual(expected);
    const singles = arraysIn(expected).filter((values) => values instanceof Float32Array);
    expect(singles.length > 0).toBe(inFloat.includes(name));
  }
});
