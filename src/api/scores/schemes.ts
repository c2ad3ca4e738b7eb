// Every way to give attention positions, over the same content: logits, and the terms that add up to them.
// Adding with LayerNorm and segments is in decompose.ts. What a scheme is made of stands in the registry of the core;
// here its parts are checked, or drawn when all sizes are known to fit.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { SmallSuperpose } from '../small.js';
import { type Floats, type Linear, rounded, type Table, table } from '../table.js';
import type { SchemeInput } from './schemeInputs.js';
import { readOptions } from './schemeOptions.js';
import { extent, type SchemeInfo, type SchemePart, type SchemeSizes, schemeNamed } from './schemeRegistry.js';
import { askedTerms, type SchemeScores } from './schemeTerms.js';

export interface SchemesApi {
  /**
   * The logits of a scheme, and their terms. Learned parts that are left out are drawn: equal inputs and
   * seeds give equal scores. Computed in double, then returned in the arrays' element type. Throws RangeError
   * or TypeError before allocating.
   */
  schemeScores<A extends Floats>(input: SchemeInput<A>): SchemeScores<A>;
}

/** Random streams of the drawn parts: one each, so that giving one part does not change another. */
const streams = [
  'query',
  'key',
  'offsetKeys',
  'offsetKey',
  'u',
  'v',
  'bias',
  'distances',
  'positionQuery',
  'positionKey',
  'position',
  'rotaryQuery',
  'rotaryKey',
];

export function schemesApi(raw: RawModule, first: SmallSuperpose): SchemesApi {
  let registry: SchemeInfo[] | undefined;
  return {
    schemeScores<A extends Floats>(input: SchemeInput<A>): SchemeScores<A> {
      check.object('input', input);
      registry ??= raw.schemeRegistry();
      const info = schemeNamed(registry, 'scheme', input.scheme);
      const { content } = input;
      check.table('content', content);
      const [n, d] = [content.rows, content.columns];
      const heads = check.integer('heads', input.heads, 1);
      const seed = check.seed('seed', input.seed ?? 0);
      const precision = content.data instanceof Float32Array ? 'float32' : 'float64';
      const single = precision === 'float32';
      const deviation = check.representable('standardDeviation', input.standardDeviation ?? 0.02, single, 0);
      const only = check.chosenHeads(input.only, heads);
      const given = input as unknown as Readonly<Record<string, unknown>>;

      if (input.query) check.linear('query', input.query);
      const d_head = input.query
        ? check.headWidth(heads, input.query.weight.rows, 'query.weight')
        : check.integer('d_head', input.d_head ?? Math.max(1, Math.floor(d / heads)), 1);
      const sizes: SchemeSizes = { d_model: d, heads, d_head, positions: n, layers: 1, clip: info.clip };

      // Given parts are checked here; the others are drawn at the end.
      let values = n * d;
      const arrays: Record<string, Floats | undefined> = { 'content.data': content.data };
      const drawings: (() => void)[] = [];
      const learned: Record<string, unknown> = {};
      const draw = (name: string, rows: number, columns: number, sigma: number): A =>
        first.randomNormal({
          rows,
          columns,
          standardDeviation: sigma,
          seed,
          stream: streams.indexOf(name),
          precision,
        }).data as A;
      /** Keeps a part as it is given, or as it will be drawn. */
      const take = (
        name: string,
        checked: () => Record<string, Floats | undefined>,
        drawn: () => unknown,
      ) => {
        if (given[name]) {
          Object.assign(arrays, checked());
          learned[name] = given[name];
        } else {
          drawings.push(() => {
            learned[name] = drawn();
          });
        }
      };
      const tablePart = (name: string, rows: number, columns: number, drawn: () => unknown) => {
        values += rows * columns;
        take(
          name,
          () => ({ [`${name}.data`]: check.table(name, given[name], { rows, columns }).data }),
          drawn,
        );
      };
      const linearPart = (name: string, rows: number, columns: number, biased = true) => {
        values += rows * (columns + n);
        const checked = () => {
          const { weight, bias } = check.linear(name, given[name], { rows, columns });
          if (bias && !biased)
            throw new RangeError(`${name} must have no bias; the joined weight's goes with query or key.`);
          return { [`${name}.weight.data`]: weight.data, [`${name}.bias`]: bias };
        };
        take(name, checked, () => ({
          weight: table(draw(name, rows, columns, 1 / Math.sqrt(columns)), rows, columns),
        }));
      };
      const part = ({ name, kind, ...shape }: SchemePart) => {
        const [rows, columns] = [extent(shape.rows, sizes), extent(shape.columns, sizes)];
        if (kind === 'table')
          tablePart(name, rows, columns, () => table(draw(name, rows, columns, deviation), rows, columns));
        else if (kind === 'offsets')
          tablePart(name, rows, columns, () =>
            first.sinusoidal({
              positions: rows,
              d_model: columns,
              layout: 'concatenated',
              spacing: 'd_model',
              firstPosition: 1 - n,
              precision,
            }),
          );
        else if (kind === 'vector')
          take(
            name,
            () => ({ [name]: check.floats(name, given[name], columns) }),
            () => draw(name, 1, columns, deviation),
          );
        else {
          const own = kind === 'shared' && (given[name] as Linear | undefined)?.weight?.rows === heads * rows;
          linearPart(name, own ? heads * rows : rows, columns, kind !== 'weight');
        }
      };

      linearPart('query', heads * d_head, d);
      linearPart('key', heads * d_head, d);
      const options = readOptions(info, { given, sizes, single });
      if (options.segmentBias) arrays['segmentBias.data'] = (options.segmentBias as Table).data;
      info.parts.forEach(part);
      values += raw.schemeWork(info.id, sizes);

      const own = info.terms.length + (options.segmentIds ? 1 : 0);
      const divisor = info.divisor.reduce((sum, one) => sum + extent(one, sizes), 0);
      const scale = check.scale(input.scale, divisor, single);
      const published = options.bidirectional === undefined ? info.causal : !options.bidirectional;
      const causal = check.flag('causal', input.causal ?? published);
      const asked = check.oneOf('terms', input.terms ?? 'own', ['own', 'asked']) === 'asked';
      check.samePrecision(arrays);
      const terms = asked ? askedTerms.length : own;
      const perHead = (2 * terms + (asked ? own : 0) + 6) * n * n;
      // The scheme of the mean token is as large again.
      const inputs = (asked ? 2 : 1) * (4 * values + 2 * n * heads * d_head);
      check.fits(
        `${only.length} heads of ${terms} terms for ${n} tokens`,
        (only.length * (terms + 2) * n * n + perHead + inputs + own * n * n) * 8,
      );
      for (const drawing of drawings) drawing();
      const request = { content, ...learned, ...options, heads, scale, causal, only, asked };
      const result = raw.schemeScores(info.id, request);
      const inType = (values: Float64Array) => rounded<A>(values, single);
      return {
        n,
        heads: only,
        ...result,
        terms: inType(result.terms),
        logits: inType(result.logits),
        weights: inType(result.weights),
      };
    },
  };
}
