// Decomposes the attention scores of summed embeddings into terms.
import * as check from '../check.js';
import { type Handle, makeResident, type ResidentObject } from '../handle.js';
import type { RawModule } from '../module.js';
import type { Floats, Linear, Table } from '../table.js';
import { checkedGauge, type GaugeOptions, gaugeOptionNames } from './gauge.js';
import { fitsScores, type Scores } from './scores.js';

/** The norm between the sum of the embeddings and W_Q and W_K. */
export interface Normalization {
  /** RMSNorm does not subtract the mean and has no beta. */
  kind: 'layer_norm' | 'rms_norm';
  /** [d]; ones by default. */
  gamma?: Floats;
  /** [d]; zeros by default. LayerNorm only. */
  beta?: Floats;
  /** ε inside the square root, at least 0. BERT's is 1e-12. */
  epsilon: number;
}

/** A layer that reads a sum; it is the same for all inputs. */
export interface ScoreLayerInput {
  /** The norm before W_Q and W_K. By default they read the sum itself. */
  normalization?: Normalization;
  /** W_Q [heads · d_h, d] and its bias. */
  query: Linear;
  /** W_K [heads · d_h, d] and its bias. */
  key: Linear;
  /** The number of heads, which divides the rows of the weights. */
  heads: number;
  /** Whether query i sees only keys j ≤ i; shares are then over those. Default false. */
  causal?: boolean;
  /** The factor of every logit and term; any finite number. Default 1/√d_h. */
  scale?: number;
}

/** The sum that a layer reads, and how its scores are decomposed. */
export interface SumInput extends GaugeOptions {
  /**
   * The tables, [n, d] each, whose sum is the input, by name; at least one. The name `constant` is reserved
   * for the last part of every result, which consists of W β + b and the means that the gauge subtracts.
   */
  summands: Record<string, Table>;
  /** Which heads to return, in this order. Default all. */
  only?: readonly number[];
  /**
   * Parts to add up, for example { token: ['token', 'constant'], position: ['position'] }. Every part must be
   * in exactly one group. By default, each part is a group of its own.
   */
  groups?: Record<string, readonly string[]>;
}

export interface DecomposeInput extends SumInput, ScoreLayerInput {}

/** A layer's weights, which stay packed in the module's memory until they are deleted. */
export interface ScoreLayer extends Handle {
  /**
   * Like decompose(), with this layer's weights. Throws as decompose() does, and Error when the layer is
   * gone.
   */
  decompose(input: SumInput): Scores;
}

/** @category Decompose scores */
interface DecomposeApi {
  /**
   * Keeps a layer's weights in the module, packed once for all inputs, so that each input costs only its own
   * decompose(). Products are float32, norms and sums float64. Throws RangeError or TypeError before
   * allocating.
   */
  layer(input: ScoreLayerInput): ScoreLayer;
  /**
   * Takes the attention scores of summed embeddings apart, exactly. For n summands, each head's logits have
   * (n+1)² terms. This is equation 6 of TUPE, arXiv 2006.15595, with the LayerNorm and biases that the paper
   * leaves out. It is exact for a model's first layer: the residual is only the rounding error of float. The
   * function makes a layer(), decomposes once and deletes the layer. Throws RangeError or TypeError before
   * allocating.
   */
  decompose(input: DecomposeInput): Scores;
}

const layerNames: check.OptionNames<ScoreLayerInput> = {
  normalization: true,
  query: true,
  key: true,
  heads: true,
  causal: true,
  scale: true,
};
const sumNames: check.OptionNames<SumInput> = {
  summands: true,
  only: true,
  groups: true,
  ...gaugeOptionNames,
};

export function decomposeApi(raw: RawModule): DecomposeApi {
  return {
    layer(input) {
      check.knownOptions('input', input, layerNames);
      const layer = checkedLayer(input);
      const { weight } = layer.query;
      check.requireMemory(
        `A layer of ${2 * weight.rows} by ${weight.columns} weights`,
        bytesToMake(raw, layer),
      );
      const resident = residentLayer(raw, layer);
      return {
        ...resident.handle,
        decompose(input) {
          check.knownOptions('input', input, sumNames);
          const summands = checkedSummands(input, weight.columns);
          const address = resident.address();
          return scoresOf(raw, layer, address, checkedSum(raw, input, layer, summands));
        },
      };
    },

    decompose(input) {
      check.knownOptions('input', input, { ...sumNames, ...layerNames });
      const summands = checkedSummands(input);
      const layer = checkedLayer(input, summands.first);
      const sum = checkedSum(raw, input, layer, summands, bytesToMake(raw, layer));
      const resident = residentLayer(raw, layer);
      try {
        return scoresOf(raw, layer, resident.address(), sum);
      } finally {
        resident.handle.delete();
      }
    },
  };
}

/** Decomposes the scores of the layer at this address for a sum that it reads. */
function scoresOf(raw: RawModule, layer: CheckedLayer, address: number, sum: CheckedSum): Scores {
  const result = raw.decompose(
    address,
    sum.tables,
    sum.groups.of,
    sum.groups.names.length,
    sum.only,
    sum.gauge,
    layer.causal,
  );
  const { kind, excludedRows } = sum.gauge;
  const { names: parts } = sum.groups;
  return {
    n: sum.n,
    heads: sum.only,
    parts,
    gauge: kind,
    excludedRows,
    ...(layer.causal && { causal: true }),
    ...result,
  };
}

type CheckedLayer = ReturnType<typeof checkedLayer>;
type CheckedSum = ReturnType<typeof checkedSum>;

function residentLayer(raw: RawModule, layer: CheckedLayer): ResidentObject {
  const { norm, query, key, heads, scale } = layer;
  return makeResident(
    raw,
    'layer',
    raw.layerBytes(query.weight.rows, query.weight.columns),
    () => raw.layer(norm, query, key, heads, scale),
    (address) => raw.deleteLayer(address),
  );
}

function checkedSummands(input: SumInput, columns?: number) {
  check.object('summands', input.summands);
  const names = checkedNames(Object.keys(input.summands));
  return { names, first: checkedTables(input.summands, names, columns) };
}

/** The bytes that a layer takes while it is made. */
const bytesToMake = (raw: RawModule, { query: { weight } }: CheckedLayer): number =>
  raw.layerBytesToMake(weight.rows, weight.columns);

/**
 * Checks the sum that a layer is to read, and fills in defaults. `more` counts bytes that are allocated
 * beside the scores.
 */
function checkedSum(
  raw: RawModule,
  input: SumInput,
  layer: CheckedLayer,
  { names, first }: ReturnType<typeof checkedSummands>,
  more = 0,
) {
  const { rows: n, columns: d } = first;
  const only = check.chosenHeads(input.only, layer.heads);
  fitsScores(raw, n, names.length + 1, only.length, layer.query.weight.rows + d, more);
  const gauge = checkedGauge(input, n);
  const tables = names.map((name) => input.summands[name] as Table);
  for (const name of names) check.singles(`summands.${name}.data`, input.summands[name]?.data);
  const groups = grouped([...names, 'constant'], input.groups);
  return { names, tables, n, only, gauge, groups };
}

/** Checks the names of summands. */
export function checkedNames(names: readonly string[]): readonly string[] {
  if (names.length === 0) throw new RangeError('summands must hold at least one table; it is empty.');
  if (names.includes('constant')) {
    throw new RangeError("No summand may be named 'constant': that is the part for W β + b.");
  }
  return names;
}

/** Checks the tables of these names, which must have one shape, and returns the first. */
export function checkedTables(
  summands: Record<string, Table>,
  names: readonly string[],
  columns?: number,
): Table {
  const first = summands[names[0] as string] as Table;
  for (const name of names) {
    const extents = name === names[0] ? { columns } : { rows: first.rows, columns: first.columns };
    check.table(`summands.${name}`, summands[name], extents);
  }
  return first;
}

/** Checks a layer, and that its width is that of the first summand where there is one. */
function checkedLayer(input: ScoreLayerInput, first?: Table) {
  const { query, key } = input;
  check.linear('query', query, { columns: first?.columns });
  const { rows, columns: d } = query.weight;
  check.linear('key', key, { rows, columns: d });
  const headWidth = check.headWidth(input.heads, rows, 'query.weight');
  const scale = check.scale(input.scale, headWidth);
  const norm = checkedNormalization(input.normalization, d);
  const causal = check.flag('causal', input.causal ?? false);
  for (const [name, { weight, bias }] of Object.entries({ query, key })) {
    check.singles(`${name}.weight.data`, weight.data);
    check.singles(`${name}.bias`, bias);
  }
  check.singles('normalization.gamma', norm.gamma);
  check.singles('normalization.beta', norm.beta);
  check.single('scale', scale);
  return { norm, scale, query, key, heads: input.heads, causal };
}

/** Checks a norm of rows of width `d`, and returns it as the binding takes it. */
export function checkedNormalization(input: Normalization | undefined, d: number, name = 'normalization') {
  if (input === undefined) {
    return { kind: 'none', gamma: undefined, beta: undefined, epsilon: 0 } as const;
  }
  check.knownOptions(name, input, { kind: true, gamma: true, beta: true, epsilon: true });
  const kind = check.oneOf(`${name}.kind`, input.kind, ['layer_norm', 'rms_norm']);
  const { gamma, beta } = input;
  if (gamma !== undefined) check.floats(`${name}.gamma`, gamma, d);
  if (beta !== undefined) check.floats(`${name}.beta`, beta, d);
  if (beta !== undefined && input.kind === 'rms_norm') {
    throw new RangeError(`${name}.beta belongs to layer_norm; rms_norm has none.`);
  }
  const epsilon = check.number(`${name}.epsilon`, input.epsilon, 0);
  return { kind, gamma, beta, epsilon };
}

/** Checks groups of parts. Returns the groups' names and, for each part, the index of its group. */
export function grouped(parts: string[], groups: SumInput['groups']) {
  if (groups === undefined) return { names: parts, of: parts.map((_, part) => part) };
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
    check.distinct(`groups.${name}`, members);
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
