// The oracles of tests/reference, typed. The head of each script explains its numbers.

import type { DecomposeInput, Linear, Table } from 'add-or-concatenate';
import concatenation from '../../reference/concatenation.json' with { type: 'json' };
import decomposition from '../../reference/decomposition.json' with { type: 'json' };
import gauge from '../../reference/gauge.json' with { type: 'json' };
import draws from '../../reference/mersenne_twister.json' with { type: 'json' };
import minilm from '../../reference/minilm.json' with { type: 'json' };
import sinusoidal from '../../reference/sinusoidal.json' with { type: 'json' };
import { tableOf } from './numbers.ts';

type Matrix = number[][];

export interface DecompositionCase {
  name: string;
  heads: number;
  scale: number;
  norm: { kind: 'layernorm' | 'rmsnorm' | 'none'; gamma?: number[]; beta?: number[]; eps?: number };
  summands: Matrix[];
  query_weight: Matrix;
  query_bias: number[] | null;
  key_weight: Matrix;
  key_bias: number[] | null;
  logits: Matrix[];
  terms: Matrix[][];
  /** Per head; null for a single token. */
  shares: (number[] | null)[];
  softmax: Matrix[];
  subset: { pairs: number[][]; indices: number[]; softmax: Matrix[] };
  sum_normalized_separately: Matrix[] | null;
}

/** Terms and shares by gauge; README.md of tests/reference says which rows they cover. */
export interface GaugeCase
  extends Omit<DecompositionCase, 'norm' | 'terms' | 'shares' | 'softmax' | 'subset'> {
  norms: DecompositionCase['norm'][];
  apart: number[];
  raw_terms: Matrix[][];
  canonical_terms: Matrix[][];
  shares: Record<'raw' | 'raw_over_used_rows' | 'canonical', (number[] | null)[]> & {
    means?: (number[] | null)[];
  };
}

export const gaugeCases = gauge.cases as unknown as GaugeCase[];
export const decompositionCases = decomposition.cases as unknown as DecompositionCase[];

const summandNames = ['token', 'position', 'token_type'];

export function linearOf(weight: Matrix, bias?: number[] | null): Linear<Float64Array> {
  return { weight: tableOf(weight), ...(bias && { bias: Float64Array.from(bias) }) };
}

/**
 * An oracle's case as decompose() takes it, in the raw gauge, in which the oracles are unless they say
 * otherwise.
 */
export function inputOf(
  oracle: Omit<DecompositionCase, 'terms' | 'shares' | 'softmax' | 'subset'>,
): DecomposeInput {
  const { kind, gamma, beta, eps } = oracle.norm;
  return {
    summands: Object.fromEntries(
      oracle.summands.map((rows, s): [string, Table<Float64Array>] => [
        summandNames[s] as string,
        tableOf(rows),
      ]),
    ),
    ...(kind !== 'none' && {
      normalization: {
        kind: kind === 'layernorm' ? ('layer_norm' as const) : ('rms_norm' as const),
        ...(gamma && { gamma: Float64Array.from(gamma) }),
        ...(beta && { beta: Float64Array.from(beta) }),
        epsilon: eps as number,
      },
    }),
    query: linearOf(oracle.query_weight, oracle.query_bias),
    key: linearOf(oracle.key_weight, oracle.key_bias),
    heads: oracle.heads,
    scale: oracle.scale,
    gauge: 'raw',
  };
}

export interface DotProductsCase {
  rho: number;
  token: Matrix;
  position: Matrix;
  concatenated: Matrix;
  add_terms: Matrix[] | null;
  added: Matrix | null;
}

export interface SinusoidalTable {
  layout: 'interleaved' | 'concatenated';
  denominator: 'd_model' | 'timescales';
  positions: number;
  width: number;
  base: number;
  first: number;
  frequencies: number[];
  table: Matrix;
}

export const sinusoidalTables = sinusoidal.tables as unknown as SinusoidalTable[];
export const dotProductsCases = concatenation.dot_products as unknown as DotProductsCase[];
export { concatenation, draws, minilm, sinusoidal };
