// MiniLM over the files that the build makes of it: a BERT whose names and sizes nobody has to recognize.
import type { SmallSuperpose } from '../small.js';
import type { Superpose } from '../whole.js';
import { modelOver } from './modelOver.js';
import { jsonIn, type Manifest, type MiniLMOptions, type ReadParsed } from './packedFiles.js';
import { attention, norm, packedTensors, places, segments, words } from './packedTensors.js';
import { type TokenizerFile, wordPieces } from './wordPieces.js';

export async function packedModel(
  superpose: SmallSuperpose,
  read: ReadParsed,
  manifest: Manifest,
  { rest }: MiniLMOptions,
) {
  const { d_model, heads, epsilon, positions, vocabulary, layerBytes } = manifest;
  const [tokenizer, checkpoint] = await Promise.all([
    read('tokenizer.json', (bytes) => wordPieces(jsonIn(bytes) as TokenizerFile)),
    packedTensors(superpose, read, manifest),
  ]);
  const tables = { token: words, position: places, segment: segments };
  const layout = { tables, d_model, vocabulary, positions, padding: undefined, apart: [0] };
  return modelOver({
    superpose,
    layout,
    facts: { name: 'BERT', markers: { before: 1, after: 1 } },
    layers: layerBytes.length,
    rows: checkpoint.rows,
    async first() {
      const vector = (name: string) => checkpoint.first(name).data;
      const linear = (name: string) => ({
        weight: checkpoint.first(`${attention}.${name}.weight`),
        bias: vector(`${attention}.${name}.bias`),
      });
      const [gamma, beta] = [vector(`${norm}.weight`), vector(`${norm}.bias`)];
      const normalization = { kind: 'layer_norm' as const, gamma, beta, epsilon };
      return { normalization, query: linear('query'), key: linear('key'), heads, causal: false };
    },
    async opened() {
      const { bert } = await import('./layers.js');
      const known = { ...layout, family: 'bert' as const, facts: bert, prefix: '' };
      return { superpose, checkpoint, layout: known, config: {}, heads, epsilon };
    },
    whole: rest ?? (async () => superpose as Superpose),
    isSmall: true,
    readsText: true,
    tokenizer: async () => tokenizer,
  });
}
