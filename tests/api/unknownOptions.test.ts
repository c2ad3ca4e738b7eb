// An unknown option of any function or method is refused by one sentence, which names those that exist and the
// nearest. Every function's right calls get one option more in each of their objects. The methods of what is held,
// and what waits for files, are listed here: one that is not listed fails.
import { fileURLToPath } from 'node:url';
import * as library from 'superpose';
import { describe, expect, test } from 'vitest';
import type { OptionNames } from '../../build/package/check.js';
import { unknownName } from '../../build/package/unknown.js';
import { madeLayer } from './model/made.ts';
import { plain } from './support/builds.ts';
import { methodsOf } from './support/methods.ts';
import { changed, type Path } from './support/refusals.ts';
import { linear, rightCalls, table } from './support/rightCalls.ts';

type Call = (...args: unknown[]) => unknown;

/** Maps by names of the caller's own, results, and what a file has: in these no name is unknown. */
const anyNames = [
  /\.(summands|groups|attention)$/,
  /^encoder\.forward\.0$/,
  /^trainer\.setParameters\.0$/,
  /^(encodeSafetensors|decodeSafetensors|combineTerms|poolShares)\./,
  // A way that needs no means looks at none.
  /\.means\.(states|scores)$/,
];

/** The arguments with an unknown option in one of their objects, once for each; tables are no options. */
function withUnknown(name: string, args: readonly unknown[]): [where: string, args: unknown[]][] {
  const found: [string, unknown[]][] = [];
  const visit = (value: unknown, path: Path): void => {
    const isRecord = typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
    if (!isRecord || anyNames.some((one) => one.test([name, ...path].join('.')))) return;
    const members = Object.entries(value);
    for (const [key, member] of members) visit(member, [...path, Array.isArray(value) ? Number(key) : key]);
    if (Array.isArray(value) || value === plain || ('data' in value && 'rows' in value)) return;
    found.push([`${name}, ${path.join('.')}`, changed(args, path, { ...value, nonesuch: undefined })]);
  };
  args.forEach((arg, place) => {
    visit(arg, [place]);
  });
  return found;
}

/** Right calls, with their options, of the methods of what is held and of the functions of the package itself. */
async function optionCalls(): Promise<[string, object, Record<string, unknown[]>][]> {
  const folder = fileURLToPath(new URL('../reference/checkpoints/bert', import.meta.url));
  const sentence = { ids: [1, 2, 3], tokens: ['a', 'b', 'c'], dropped: 0 };
  const batch = { n: 3, tokens: [0, 1, 2], targets: [0, 1, 2] };
  const model = await library.openModel(plain, folder);
  const means = await model.corpusMeans({ sentences: Array(30).fill(sentence) });
  const summands = { token: table(3, 4) };
  const encoder = plain.encoder({ d_model: 4, heads: 2 });
  const added = madeLayer(4, 6, 1);
  await encoder.addLayer(added);
  const forward = await encoder.forward(summands);
  const ways = { way: 'direct', only: [0], excludedRows: [], gauge: 'raw' };
  const waiting = { signal: undefined, progress: undefined };
  const state = means.states[0];
  const trainer = plain.trainer({ evaluation: batch, vocabulary: 3, classes: 3, d_model: 4, heads: 2 });
  const { Unreadable, FamilyUnknown, ...functions } = library;
  const ofFunctions = {
    load: [{ simd: 'plain', module: 'small', wasm: { whole: 'a', small: 'b' } }],
    loadMiniLM: [plain, { from: 'a', rest: undefined, read: undefined }],
    openModel: [plain, folder, { family: 'bert', heads: 2, epsilon: 1, ...waiting }],
    openTable: [plain, folder, { rows: 1, tensor: 'a', header: true, separator: ',', ...waiting }],
  };
  const ofModel = {
    report: [waiting],
    decompose: [sentence, { layer: 0, means, ...ways, ...waiting }],
    forward: [sentence, { layers: 1, attention: {}, ...waiting }],
    corpusMeans: [{ sentences: [sentence], scores: true, ...waiting }],
    withoutPositions: [sentence, waiting],
    rows: [sentence],
    changed: [sentence, { shift: 1 }],
  };
  const ofForward = {
    decompose: [{ layer: 0, means: { ...state, position: { ...state?.position } }, ...ways, way: 'mean' }],
  };
  const ofTrainer = {
    step: [batch],
    evaluate: [batch],
    logits: [batch],
    attention: [{ ...batch, layer: 0 }],
    shares: [{ gauge: 'raw' }],
    setParameters: [trainer.parameters()],
  };
  const search = plain.collisionSearch({ tokens: table(7, 4), positions: table(3, 4) });
  return [
    ['function', functions, ofFunctions],
    ['model', model, ofModel],
    ['layer', plain.layer({ query: linear(4, 4), key: linear(4, 4), heads: 2 }), layerCalls(summands)],
    ['encoder', encoder, { addLayer: [added], forward: [summands, { layers: 1 }] }],
    ['forward', forward, ofForward],
    ['trainer', trainer, ofTrainer],
    ['search', search, { allWords: [{ slice: 1, words: 1 }] }],
  ];
}

const layerCalls = (summands: object) => ({
  decompose: [{ summands, only: [0], gauge: 'raw', excludedRows: [] }],
  decomposeTerms: [{ summands, only: [0], gauge: 'raw', excludedRows: [] }],
});

/** What takes no options. */
const withoutOptions = {
  function:
    'askedTerms corpusSentences familyIds familyNames modelFamilies pairTerms logitsOf schemeTermOf sharesOf supportedSimd termOf wasmAddress',
  model: 'digest tokenize pieces layer',
  layer: 'isAlive',
  encoder: 'isAlive',
  forward: 'state last logits attention',
  trainer: 'isAlive cutTerms loudness overlap directions coordinates parameters',
  search: 'isAlive nearestTokens',
};

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
        const said = await refusal(plain[name as keyof typeof plain] as Call, args);
        if (said) passed.push(`${where}: ${said}`);
        count += 1;
      }
    }
    expect(passed).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });

  test('of every method, and of what waits for files', async () => {
    const passed: unknown[] = [];
    for (const [kind, object, calls] of await optionCalls()) {
      const known = withoutOptions[kind as keyof typeof withoutOptions].split(' ');
      const methods = methodsOf(object);
      // A new method is listed here, with its options or without.
      for (const [name] of methods)
        if (!known.includes(name) && !Object.hasOwn(calls, name)) passed.push(name);
      for (const [name, args] of Object.entries(calls)) {
        const call = ((object as Record<string, Call>)[name] as Call).bind(object);
        for (const [where, wrong] of withUnknown(`${kind}.${name}`, args)) {
          const said = await refusal(call, wrong);
          if (said) passed.push(`${where}: ${said}`);
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
  const lacking: OptionNames<{ one: number; other?: number } | { one: string }> = { one: true };
  expect(lacking).toEqual({ one: true });
});
