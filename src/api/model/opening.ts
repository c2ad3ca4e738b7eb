// What a page opens with: one sentence in two heads of MiniLM's first layer, in one small file that arrives
// long before the model does.
import * as check from '../check.js';
import type { DecomposeInput } from '../scores/decompose.js';
import type { Scores } from '../scores/scores.js';
import type { SmallSuperpose } from '../small.js';
import type { Table } from '../table.js';
import { type MiniLMOptions, parsedReader, tensorReader } from './packedFiles.js';
import { openingFile, openingHeads } from './sentence.js';

export interface Opening {
  /** The word pieces of `openingText`, [CLS] first and [SEP] last. */
  readonly tokens: readonly string[];
  /** The three tables that BERT adds up, each [n, 384]. */
  readonly summands: Record<'token' | 'position' | 'token_type', Table<Float64Array>>;
  /** Like MiniLM's decompose() in the canonical gauge, for `openingHeads` alone. */
  decompose(options?: Pick<DecomposeInput, 'groups'>): Scores<Float64Array>;
}

/** Width of a head, the size of each block in the layer's tensors. */
const d_head = 32;

/**
 * Loads what a page opens with, from where loadMiniLM() has its files. Exact: the rows, weights and scores
 * are those of the model. Throws what loadMiniLM() throws when the file is missing or damaged.
 */
export async function loadOpening(superpose: SmallSuperpose, options: MiniLMOptions = {}): Promise<Opening> {
  check.object('superpose', superpose);
  check.object('options', options);
  const read = await parsedReader(superpose, options);
  const { tokens, tensor, epsilon, d_model } = await read(openingFile, (bytes) => {
    const said = metadataOf(bytes);
    const { length: n } = said.tokens;
    const rows = openingHeads.length * d_head;
    const [d] = superpose.readSafetensorsHeader(bytes).get('gamma')?.shape ?? [];
    const d_model = check.integer('d_model', d, 1);
    const shapes = {
      gamma: [d_model],
      beta: [d_model],
      'query.weight': [rows, d_model],
      'query.bias': [rows],
      'key.weight': [rows, d_model],
      'key.bias': [rows],
      token: [n, d_model],
      position: [n, d_model],
      token_type: [1, d_model],
    };
    return { ...said, tensor: tensorReader(superpose, bytes, shapes), d_model };
  });
  const n = tokens.length;
  const segment = new Float64Array(n * d_model);
  for (let row = 0; row < n; row++) segment.set(tensor('token_type').data, row * d_model);
  const summands = {
    token: tensor('token'),
    position: tensor('position'),
    token_type: { data: segment, rows: n, columns: d_model },
  };
  return {
    tokens,
    summands,
    decompose({ groups } = {}) {
      const linear = (name: string) => ({
        weight: tensor(`${name}.weight`),
        bias: tensor(`${name}.bias`).data,
      });
      const scores = superpose.decompose({
        summands,
        normalization: {
          kind: 'layer_norm',
          gamma: tensor('gamma').data,
          beta: tensor('beta').data,
          epsilon,
        },
        query: linear('query'),
        key: linear('key'),
        heads: openingHeads.length,
        ...(groups && { groups }),
        gauge: 'canonical',
        apart: [0],
      });
      return { ...scores, heads: openingHeads };
    },
  };
}

/** The metadata in the file's header. */
function metadataOf(bytes: Uint8Array): { tokens: string[]; epsilon: number } {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const { __metadata__: said } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const tokens: unknown = JSON.parse(said?.tokens ?? 'null');
  if (!Array.isArray(tokens) || tokens.length < 3 || tokens.some((token) => typeof token !== 'string')) {
    throw new Error('It does not say which tokens it is of.');
  }
  return { tokens, epsilon: check.positive('epsilon', Number(said.epsilon)) };
}
