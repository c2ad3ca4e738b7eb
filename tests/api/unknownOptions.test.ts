// An unknown option of any function or method is refused with one sentence, which lists the options that
// exist and the nearest one. The right calls of every function and of every method (support/methodCalls.ts)
// are repeated with one more option in each of their objects.
import { describe, expect, test } from 'vitest';
import type { OptionNames } from '../../build/package/check.js';
import { unknownName } from '../../build/package/unknownName.js';
import { plain } from './support/builds.ts';
import { methodCalls } from './support/methodCalls.ts';
import { changed, type Path } from './support/refusals.ts';
import { rightCalls } from './support/rightCalls.ts';

type Call = (...args: unknown[]) => unknown;

/** Objects in which any name is allowed: maps by the caller's own names, results, and contents of a file. */
const anyNames = [
  /\.(summands|groups|attention)$/,
  /^transformerStack\.forward\.0$/,
  /^trainer\.setParameters\.0$/,
  /^(encodeSafetensors|decodeSafetensors|poolShares)\./,
  // The first argument is a result, and masks are lists.
  /^combineTerms\.[02]/,
  /^function\.(logitsOf|sharesOf|termOf|schemeTermOf)\./,
  // A way that needs no means does not look at them.
  /\.means\.(states|scores)$/,
];

/**
 * The arguments with an unknown option in one of their objects, once for each object; tables do not count as
 * options.
 */
function withUnknown(name: string, args: readonly unknown[]): [where: string, args: unknown[]][] {
  const calls: [string, unknown[]][] = [];
  const visit = (value: unknown, path: Path): void => {
    const isRecord = typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
    if (!isRecord || anyNames.some((pattern) => pattern.test([name, ...path].join('.')))) return;
    const members = Object.entries(value);
    for (const [key, member] of members) visit(member, [...path, Array.isArray(value) ? Number(key) : key]);
    if (Array.isArray(value) || value === plain || ('data' in value && 'rows' in value)) return;
    calls.push([`${name}, ${path.join('.')}`, changed(args, path, { ...value, nonesuch: undefined })]);
  };
  args.forEach((arg, place) => {
    visit(arg, [place]);
  });
  return calls;
}

describe('an unknown option is refused by name, with those that exist', () => {
  const refusal = async (call: Call, args: readonly unknown[]) =>
    (async () => call(...args))().then(
      () => 'it is taken',
      (error: Error) =>
        /^Unknown option `(\S+\.)?nonesuch`\. Options: \w/.test(error.message) ? undefined : error,
    );

  test('of every function', async () => {
    const passed: unknown[] = [];
    let count = 0;
    for (const [name, { sound, also = [] }] of Object.entries(rightCalls)) {
      for (const [where, args] of [sound, ...also].flatMap((right) => withUnknown(name, right))) {
        const error = await refusal(plain[name as keyof typeof plain] as Call, args);
        if (error) passed.push(`${where}: ${error}`);
        count += 1;
      }
    }
    expect(passed).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });

  test('of every method, and of what waits for files', async () => {
    const passed: unknown[] = [];
    for (const { kind, object, calls } of await methodCalls()) {
      for (const [name, args] of Object.entries(calls)) {
        const call = ((object as Record<string, Call>)[name] as Call).bind(object);
        for (const [where, wrong] of withUnknown(`${kind}.${name}`, args)) {
          const error = await refusal(call, wrong);
          if (error) passed.push(`${where}: ${error}`);
        }
      }
    }
    expect(passed).toEqual([]);
  });
});

describe('the nearest name', () => {
  const options = ['d_model', 'heads', 'seed', 'norm', 'gauge', 'scores', 'base', 'family', 'positions'];
  test.each([
    ['seeed', 'seed'],
    ['guage', 'gauge'],
    ['scroes', 'scores'],
    ['bse', 'base'],
    ['famly', 'family'],
    ['nrom', 'norm'],
    ['abes', 'base'],
    ['dModel', 'd_model'],
    ['HEADS', 'heads'],
    ['num_heads', 'heads'],
  ])('%s is meant to be %s', (name, meant) => {
    expect(unknownName('option', name, options)).toBe(
      `Unknown option \`${name}\`. Options: ${options.join(', ')}. Did you mean \`${meant}\`?`,
    );
  });

  test.each(['precision', 'x', 'temperature'])('%s is none of them', (name) => {
    expect(unknownName('setting', name, options)).toBe(
      `Unknown setting \`${name}\`. Settings: ${options.join(', ')}.`,
    );
  });

  test('of a long or strange name no more is shown than fits a line', () => {
    expect(unknownName('option', 'x'.repeat(1e6), [])).toBe(
      `Unknown option \`${'x'.repeat(40)}…\`. Options: none.`,
    );
    expect(unknownName('option', 'a\nb', ['c'], 'layer')).toBe('Unknown option `layer.a\\nb`. Options: c.');
  });
});

test('a list that lacks an option does not compile', () => {
  // @ts-expect-error: `other` is missing.
  const lacking: OptionNames<{ first: number; other?: number } | { first: string }> = { first: true };
  expect(lacking).toEqual({ first: true });
});
