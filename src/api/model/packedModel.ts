// MiniLM over the files that the build makes of it: a BERT whose names and sizes nobody has to recognize.
import type { SmallSuperpose } from '../small.js';
import type { FloatsOf, Precision } from '../table.js';
import type { Superpose } from '../whole.js';
import type { FirstLayer } from './firstLayer.js';
import { modelOver } from './modelOver.js';
import { jsonIn, type Manifest, type MiniLMOptions, type ReadParsed } from './packedFiles.js';
import { attention, norm, packedRows, places, segments, words } from './packedRows.js';
import { type TokenizerFile, wordPieces } from './wordPieces.js';

export async function packedModel(
  superpose: SmallSuperpose,
  read: ReadParsed,
  manifest: Manifest,
  { rest }: MiniLMOptions,
) {
  const { d_model, heads, epsilon, positions, vocabulary, layerBytes } = manifest;
  const [tokenizer, own] = await Promise.all([
    read('tokenizer.json', (bytes) => wordPieces(jsonIn(bytes) as TokenizerFile)),
    packedRows(superpose, read, manifest),
  ]);
  const tables = { token: words, position: places, segment: segments };
  const layout = { tables, d_model, vocabulary, positions, padding: undefined, apart: [0] };
  return modelOver({
    superpose,
    layout,
    facts: { name: 'BERT', markers: { before: 1, after: 1 } },
    layers: layerBytes.length,
    rows: own.rows,
    async first<P extends Precision>(precision: P): Promise<FirstLayer<FloatsOf<P>>> {
      const vector = (name: string) => own.first(name, precision).data;
      const linear = (name: string) => ({
        weight: own.first(`${attention}.${name}.weight`, precision),
        bias: vector(`${attention}.${name}.bias`),
      });
      const [gamma, beta] = [vector(`${norm}.weight`), vector(`${norm}.bias`)];
      const normalization = { kind: 'layer_norm' as const, gamma, beta, epsilon };
      return { normalization, query: linear('query'), key: linear('key'), heads, causal: false };
    },
    async opened() {
      const { bert, packedTensors } = await import('./packedTensors.js');
      const checkpoint = packedTensors(superpose, read, manifest, own);
      const known = { ...layout, family: 'bert' as const, facts: bert, prefix: '' };
      return { superpose, checkpoint, layout: known, config: {}, heads, epsilon };
    },
    whole: rest ?? (async () => superpose as Superpose),
    isSmall: true,
    readsText: true,
    tokenizer: async () => tokenizer,
  });
}
