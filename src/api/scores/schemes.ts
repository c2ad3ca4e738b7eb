// The logits of every scheme of positions over the same content, and the terms that add up to them. This
// file checks the request; the registry in the core says what a scheme consists of. Adding with LayerNorm is
// in decompose.ts.
import * as check from '../check.js';
import { conventionNames, evenWidth, type RotaryConvention, rotaryConvention } from '../encodings/rotary.js';
import type { RawModule } from '../module.js';
import type { SmallSuperpose } from '../smallModule.js';
import type { BucketOptions, SchemeInput } from './schemeInputs.js';
import { schemeParts } from './schemeParts.js';
import { extent, type SchemeInfo, type SchemePart, type SchemeShape, schemeNamed } from './schemeRegistry.js';
import { anovaTerms, type SchemeScores } from './scores.js';

/** @category Compare adding and concatenating */
interface SchemesApi {
  /**
   * Returns the logits of a scheme by which positions get into attention scores, and their terms. Learned
   * parts that are missing are drawn; equal inputs and seeds give equal scores. Throws RangeError or
   * TypeError before anything is allocated.
   */
  schemeScores(input: SchemeInput): SchemeScores;
}

/** The options of every scheme; a scheme ignores those of others. */
const inputNames: check.OptionNames<SchemeInput> = {
  scheme: true,
  content: true,
  heads: true,
  query: true,
  key: true,
  d_head: true,
  scale: true,
  only: true,
  causal: true,
  terms: true,
  seed: true,
  standardDeviation: true,
  positionScale: true,
  d_position: true,
  d_position_head: true,
  d_offset: true,
  d_rotary: true,
  clip: true,
  position: true,
  positionQuery: true,
  positionKey: true,
  offsetKeys: true,
  offsets: true,
  offsetKey: true,
  u: true,
  v: true,
  bias: true,
  distances: true,
  rotaryQuery: true,
  rotaryKey: true,
  bidirectional: true,
  buckets: true,
  maxDistance: true,
  ...conventionNames,
};

export function schemesApi(raw: RawModule, first: SmallSuperpose): SchemesApi {
  let registry: SchemeInfo[] | undefined;
  return {
    schemeScores(input) {
      check.knownOptions('input', input, inputNames);
      registry ??= raw.schemeRegistry() as SchemeInfo[];
      const info = schemeNamed(registry, 'scheme', input.scheme);
      const { request, only, anova } = checkedScheme(raw, first, info, input);
      return { n: input.content.rows, heads: only, ...raw.schemeScores(info.id, request, only, anova) };
    },
  };
}

/** W_Q and W_K, which can be passed to every scheme. */
const maps = ['query', 'key'].map((name): SchemePart => {
  const [rows, columns] = [
    { times: 1, by: 'heads', andBy: 'd_head', plus: 0 },
    { times: 1, by: 'd_model', andBy: 'one', plus: 0 },
  ] as const;
  return { name, kind: 'linear', rows, columns, counted: 'never' };
});

/**
 * Checks an input, and returns the request to the module. Parts that are left out are drawn once everything
 * is known to fit.
 */
function checkedScheme(raw: RawModule, first: SmallSuperpose, info: SchemeInfo, input: SchemeInput) {
  const { content } = input;
  check.table('content', content);
  const [n, d] = [content.rows, content.columns];
  const heads = check.integer('heads', input.heads, 1);
  const seed = check.seed('seed', input.seed ?? 0);
  const deviation = check.number('standardDeviation', input.standardDeviation ?? 0.02, 0);
  const only = check.chosenHeads(input.only, heads);
  const named = input as unknown as Readonly<Record<string, unknown>>;

  if (input.query) check.linear('query', input.query);
  const d_head = input.query
    ? check.headWidth(heads, input.query.weight.rows, 'query.weight')
    : check.integer('d_head', input.d_head ?? Math.max(1, Math.floor(d / heads)), 1);
  const sizes = { d_model: d, heads, d_head, positions: n, layers: 1, clip: info.clip };

  const options = readOptions(info, named, sizes);
  const parts = schemeParts(first, [...maps, ...info.parts], { input: named, sizes, seed, deviation });

  const divisor = info.divisor.reduce((sum, count) => sum + extent(count, sizes), 0);
  const scale = check.scale(input.scale, divisor);
  const published = options.buckets ? !options.buckets.bidirectional : info.causal;
  const causal = check.flag('causal', input.causal ?? published);
  const anova = check.oneOf('terms', input.terms ?? 'scheme', ['scheme', 'anova']) === 'anova';
  const terms = anova ? anovaTerms.length : info.terms.length;
  check.requireMemory(
    `${only.length} heads of ${terms} terms for ${n} tokens`,
    raw.schemeScoresBytes(info.id, sizes, only.length, anova, parts.values),
  );
  return { request: { content, ...parts.learned(), ...options, heads, scale, causal }, only, anova };
}

function checkedBuckets({ bidirectional = true, buckets = 32, maxDistance = 128 }: BucketOptions) {
  check.flag('bidirectional', bidirectional);
  check.integer('buckets', buckets, bidirectional ? 4 : 2);
  if (bidirectional && buckets % 2 !== 0) check.refuse('buckets', 'even when bidirectional', buckets);
  const exact = Math.floor((bidirectional ? buckets / 2 : buckets) / 2);
  check.integer('maxDistance', maxDistance, exact + 1);
  return { bidirectional, buckets, maxDistance };
}

/**
 * Checks the scheme's options, returns them as the binding takes them, and fills in the sizes that they set.
 */
function readOptions(
  { options, parts, clip }: SchemeInfo,
  input: Readonly<Record<string, unknown>> & BucketOptions & RotaryConvention,
  sizes: SchemeShape & { d_model: number; d_head: number },
) {
  const takes = (option: string) => options.includes(option);
  const width = (size: 'd_position' | 'd_position_head' | 'd_offset', byDefault: number) => {
    if (takes(size)) sizes[size] = check.integer(size, input[size] ?? byDefault, 1);
  };
  const perHead = parts.some(({ columns }) => columns.by === 'heads');
  width('d_position', perHead ? sizes.d_head : sizes.d_model);
  width('d_position_head', sizes.d_head);
  width('d_offset', sizes.d_model);
  if (takes('d_rotary')) {
    const wide = check.integer('d_rotary', input.d_rotary ?? 2 * Math.ceil(sizes.d_head / 4), 2);
    sizes.d_position = evenWidth('The width of a rotary head', wide);
  }
  if (takes('evenHead')) evenWidth('The width of a head', sizes.d_head);
  if (takes('clip')) {
    // A table has at least one row.
    const least = parts.some(({ rows }) => rows.plus > 0) ? 0 : 1;
    sizes.clip = check.integer('clip', input.clip ?? clip, least, 2 ** 20);
  }
  // TUPE's buckets are for both directions.
  const bucketOptions = takes('bidirectional') ? input : { ...input, bidirectional: true };
  const buckets = takes('buckets') ? checkedBuckets(bucketOptions) : undefined;
  if (buckets) sizes.buckets = buckets.buckets;
  return {
    ...(takes('positionScale') && { positionScale: check.number('positionScale', input.positionScale ?? 1) }),
    ...(buckets && { buckets }),
    ...(takes('rotation') && rotaryConvention(input)),
  };
}
