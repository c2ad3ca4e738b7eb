// What a page opens with: one sentence in two heads of MiniLM's first layer, in one small file that arrives
// long before the model does.
import * as check from '../check.js';
import type { DecomposeInput } from '../scores/decompose.js';
import type { Scores } from '../scores/scores.js';
import type { SmallSuperpose } from '../small.js';
import type { Table } from '../table.js';
import type { Summands } from './minilm.js';
import { type MiniLMOptions, parsedReader } from './packedFiles.js';
import { openingFile, openingHeads } from './sentence.js';

export interface Opening {
  /** The word pieces of `openingText`, [CLS] first and [SEP] last. */
  readonly tokens: readonly string[];
  /** The three tables that BERT adds up, each [n, 384]. */
  readonly summands: Summands;
  /** Like MiniLM's decompose() in the canonical gauge, for `openingHeads` alone. */
  decompose(options?: Pick<DecomposeInput, 'groups'>): Scores;
}

/**
 * Loads what a page opens with, from where loadMiniLM() has its files. Exact: the rows, weights and scores
 * are those of the model. Throws what loadMiniLM() throws when the file is missing or damaged.
 */
export async function loadOpening(superpose: SmallSuperpose, options: MiniLMOptions = {}): Promise<Opening> {
  check.reading(superpose, options);
  const read = await parsedReader(superpose, options);
  const { tokens, tensors, epsilon } = await read(openingFile, (bytes) => {
    const entries = [...superpose.readSafetensorsHeader(bytes).values()];
    return {
      ...metadataOf(bytes),
      // All at once, so that a damaged file can be read again.
      tensors: new Map(
        entries.map((entry) => {
          const found = superpose.decodeSafetensors(entry, bytes.subarray(entry.begin, entry.end));
          check.floats(`Tensor ${entry.name}`, found.data);
          return [entry.name, found];
        }),
      ),
    };
  });
  const tensor = (name: string) => check.table(name, tensors.get(name)) as Table<Float64Array>;
  const [n, d_model] = [tokens.length, tensor('token').columns];
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
    decompose(options = {}) {
      check.object('options', options);
      const { groups } = options;
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
