import type { Heads } from '../../wasm/bound.js';
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Floats, type Linear, suffixOf, type Table, table } from '../table.js';
import { checkedGauge, type GaugeOptions } from './gauge.js';
import { fitsScores, type Scores, type Terms } from './scores.js';

/** What is between the sum of the embeddings and W_Q, W_K. */
export interface Normalization<A extends Floats = Floats> {
  /** RMSNorm does not subtract the mean and has no beta. */
  kind: 'layer_norm' | 'rms_norm';
  /** [d]; left out, ones. */
  gamma?: A;
  /** [d]; left out, zeros. LayerNorm only. */
  beta?: A;
  /** Inside the square root, at least 0. BERT: 1e-12. */
  epsilon: number;
}

export interface DecomposeInput<A extends Floats = Floats> extends GaugeOptions<A> {
  /**
   * The tables [n, d] that are added up to make the input, by name, at least one. The name `constant` is
   * reserved: it is the last part of every result, and holds W β + b and what the gauge puts there.
   */
  summands: Record<string, Table<A>>;
  /** Left out, the sum goes to W_Q and W_K unchanged. */
  normalization?: Normalization<A>;
  /** W_Q [heads · d_h, d] and its bias. */
  query: Linear<A>;
  /** W_K [heads · d_h, d] and its bias. */
  key: Linear<A>;
  /** Heads; they divide the rows of the weights. */
  heads: number;
  /** Multiplies every logit and term; any finite number. Default 1/√d_h. */
  scale?: number;
  /** Which heads to return, in this order. Default all. */
  only?: readonly number[];
  /**
   * Parts to add up, e.g. { token: ['token', 'constant'], position: ['position'] }: every part in
   * exactly one group. Default: each part by itself.
   */
  groups?: Record<string, readonly string[]>;
}

export interface DecomposeApi {
  /**
   * Takes the attention scores of summed embeddings apart, exactly: for n summands, the (n+1)² terms of each
   * head's logits. This is TUPE, arXiv 2006.15595, eq. 6, with the LayerNorm and biases that it leaves out.
   * Exact for a model's first layer. Throws RangeError or TypeError before allocating.
   */
  decompose<A extends Floats>(input: DecomposeInput<A>): Scores<A>;
  /**
   * The terms of decompose() alone, without logits, residuals and shares: faster, for many tokens or heads.
   * The part `constant` is there only with a bias, a beta or a gauge other than `raw`, since it is zero
   * otherwise. Throws as decompose() does.
   */
  decomposeTerms<A extends Floats>(input: Omit<DecomposeInput<A>, 'groups'>): Terms<A>;
}

export function decomposeApi(raw: RawModule): DecomposeApi {
  return {
    decompose<A extends Floats>(input: DecomposeInput<A>): Scores<A> {
      const { names, first, only, norm, scale, query, key, heads, chosen, gauge } =
        checkedDecomposition(input);
      const groups = grouped([...names, 'constant'], input.groups);
      const result = raw[`decompose${suffixOf(first.data)}`](
        names.map((name) => input.summands[name] as Table<A>),
        norm,
        query,
        key,
        heads,
        scale,
        groups.of,
        groups.names.length,
        chosen,
        gauge,
      ) as Heads<A>;
      const { name, apart } = gauge;
      return { n: first.rows, heads: only, parts: groups.names, gauge: name, apart, ...result };
    },

    decomposeTerms<A extends Floats>(input: Omit<DecomposeInput<A>, 'groups'>): Terms<A> {
      const { names, first, only, norm, scale, query, key, heads, chosen, gauge } =
        checkedDecomposition(input);
      const { name, apart } = gauge;
      const constant = !!(query.bias || key.bias || norm.beta) || name !== 'raw';
      const terms = raw[`decomposeTerms${suffixOf(first.data)}`](
        names.map((one) => input.summands[one] as Table<A>),
        norm,
        query,
        key,
        heads,
        scale,
        constant,
        chosen,
        gauge,
      ) as A;
      const parts = constant ? [...names, 'constant'] : names;
      return { n: first.rows, heads: only, parts, gauge: name, apart, terms };
    },
  };
}

/** The arguments of a decomposition, checked, with defaults filled in. */
export function checkedDecomposition<A extends Floats>(input: DecomposeInput<A>) {
  check.object('input', input);
  check.object('summands', input.summands);
  const names = checkedNames(Object.keys(input.summands));
  const first = checkedTables(input.summands, names);
  const layer = checkedLayer(input, first.columns, first.data);
  const only = check.chosenHeads(input.only, input.heads);
  const width = layer.query.weight.rows + first.columns;
  fitsScores(first.rows, names.length + 1, only.length, width, first.data, layer.query, layer.key);
  const gauge = checkedGauge(input, names, first.columns, first.data, first.rows);
  const found = { names, first, only, gauge, ...layer };
  if (only.length === 0 || only.length === input.heads) return { ...found, heads: input.heads, chosen: only };
  const [query, key] = [layer.query, layer.key].map((all) => rowsOf(all, input.heads, only)) as [
    Linear,
    Linear,
  ];
  return { ...found, query, key, heads: only.length, chosen: only.map((_, place) => place) };
}

/** The rows of some heads: of the others nothing is copied into the module, or projected. */
function rowsOf({ weight, bias }: Linear, heads: number, only: readonly number[]): Linear {
  const gathered = (all: Floats) => {
    const size = all.length / heads;
    const some = only.map((head) => all.subarray(head * size, (head + 1) * size));
    const data =
      all instanceof Float32Array
        ? new Float32Array(only.length * size)
        : new Float64Array(only.length * size);
    for (const [place, rows] of some.entries()) data.set(rows, place * size);
    return data;
  };
  const rows = (weight.rows / heads) * only.length;
  return { weight: table(gathered(weight.data), rows, weight.columns), bias: bias && gathered(bias) };
}

/** Names of summands. */
export function checkedNames(names: readonly string[]): readonly string[] {
  if (names.length === 0) throw new RangeError('summands must hold at least one table; it is empty.');
  if (names.includes('constant')) {
    throw new RangeError("No summand may be named 'constant': that is the part for W β + b.");
  }
  return names;
}

/** The tables of these names, all of the same shape and element type; returns the first. */
export function checkedTables<A extends Floats>(
  summands: Record<string, Table<A>>,
  names: readonly string[],
  columns?: number,
): Table<A> {
  const first = summands[names[0] as string] as Table<A>;
  for (const name of names) {
    const extents = name === names[0] ? { columns } : { rows: first.rows, columns: first.columns };
    check.table(`summands.${name}`, summands[name], extents);
  }
  check.samePrecision(
    Object.fromEntries(names.map((name) => [`summands.${name}.data`, summands[name]?.data])),
  );
  return first;
}

/** The fixed part of a decomposition of width d, checked, in the element type of `like`. */
export function checkedLayer<A extends Floats>(
  input: Pick<DecomposeInput<A>, 'query' | 'key' | 'heads' | 'scale' | 'normalization'>,
  d: number,
  like: A | undefined,
) {
  const { query, key } = input;
  check.linear('query', query, { columns: d });
  check.linear('key', key, { rows: query.weight.rows, columns: d });
  const headWidth = check.headWidth(input.heads, query.weight.rows, 'query.weight');
  const single = check.isSingle(like ?? query.weight.data);
  const scale = check.scale(input.scale, headWidth, single);
  const norm = checkedNormalization(input.normalization, d, single);
  check.samePrecision({
    summands: like,
    'query.weight.data': query.weight.data,
    'query.bias': query.bias,
    'key.weight.data': key.weight.data,
    'key.bias': key.bias,
    'normalization.gamma': norm.gamma,
    'normalization.beta': norm.beta,
  });
  return { norm, scale, query, key };
}

export function checkedNormalization(
  given: Normalization | undefined,
  d: number,
  single: boolean,
  name = 'normalization',
) {
  if (given === undefined) {
    return { kind: 0, gamma: undefined, beta: undefined, epsilon: 0 };
  }
  check.object(name, given);
  // 0 is `none`, for no normalization.
  const kind = 1 + check.placeOf(`${name}.kind`, given.kind, ['layer_norm', 'rms_norm']);
  const { gamma, beta } = given;
  if (gamma !== undefined) check.floats(`${name}.gamma`, gamma, d);
  if (beta !== undefined) check.floats(`${name}.beta`, beta, d);
  if (beta !== undefined && given.kind === 'rms_norm') {
    throw new RangeError(`${name}.beta belongs to layer_norm; rms_norm has none.`);
  }
  const epsilon = check.representable(`${name}.epsilon`, given.epsilon, single, 0);
  return { kind, gamma, beta, epsilon };
}

/** Parts put into groups: the groups' names and, for each part, the number of its group. */
export function grouped(parts: string[], given: DecomposeInput['groups']) {
  const groups = given ?? Object.fromEntries(parts.map((part) => [part, [part]]));
  check.object('groups', groups);
  const names = Object.keys(groups);
  for (const name of names) {
    const members = groups[name];
    if (!Array.isArray(members) || members.length === 0) {
      check.refuse(`groups.${name}`, 'a list of at least one part name', members, false);
    }
    for (const part of members) {
      if (!parts.includes(part)) {
        throw new RangeError(`groups.${name} names ${check.shown(part)}; the parts are ${parts.join(', ')}.`);
      }
    }
    check.once(`groups.${name}`, members);
  }
  const of = parts.map((part) => {
    const owners = names.filter((name) => groups[name]?.includes(part));
    if (owners.length !== 1) {
      throw new RangeError(`Part ${part} must be in exactly one group; it is in ${owners.length}.`);
    }
    return names.indexOf(owners[0] as string);
  });
  return { names, of };
}
