// BERT and its relatives: tables of tokens, positions and segments, added up and normalised.
import { bertConfig, type FamilyRow, sizes, type Tensors } from './headerTensors.js';
import { bert, distilBert, mpnet, namesIn } from './layerParts.js';
import { modelFamilies } from './layout.js';

/** What BERT and relatives with the same tensor names share. */
function bertTables(of: Tensors, segments: boolean) {
  return {
    kind: 'tokens',
    token: of.need('embeddings.word_embeddings.weight', 'V', 'e'),
    position: of.need('embeddings.position_embeddings.weight', 'L', 'e'),
    ...(segments && { segment: of.need('embeddings.token_type_embeddings.weight', 'S', 'e') }),
    embeddingNorm: of.norm('embeddings.LayerNorm', 'e'),
    ended: true,
    causal: false,
    apart: [0],
    config: bertConfig,
  } as const;
}

const selfAttention = (of: Tensors, name = 'encoder.layer.0.attention.self') => ({
  query: of.linear(`${name}.query`, 'd', 'd', true),
  key: of.linear(`${name}.key`, 'd', 'd', true),
});

const threeTables = 'Token, position and segment rows are added and normalised before W_Q and W_K read them.';

const namesOfTables = [
  'embeddings.{word,position,token_type}_embeddings.weight',
  'embeddings.LayerNorm.{weight,bias,gamma,beta}',
  'embeddings.{position_ids,token_type_ids}',
];
/** BERT, and families with its names that make something else of them. */
const bertNamed = (
  family: 'bert' | 'roberta' | 'electra',
  { projected = false, firstPosition = 0 }: { projected?: boolean; firstPosition?: number },
): FamilyRow => ({
  family,
  sign: ['embeddings.token_type_embeddings.weight', 'encoder.layer.0.attention.self.query.weight'],
  names: [
    ...namesOfTables,
    ...namesIn('encoder.layer', bert),
    ...(projected ? ['embeddings_project.{weight,bias}'] : []),
  ],
  never: ['embeddings_project'],
  read(of) {
    const tables = bertTables(of, true);
    const narrow = projected && (of.has('embeddings_project.weight') || of.has('embeddings_project.bias'));
    if (!narrow) of.size.d = of.size.e as number;
    return {
      family,
      name: modelFamilies[family].name,
      about: narrow
        ? 'Token, position and segment rows are added, normalised and mapped to the model’s width before W_Q and W_K read them.'
        : `${threeTables}${firstPosition > 0 ? ` The first position is in row ${firstPosition}.` : ''}`,
      ...tables,
      ...(narrow && { projection: of.linear('embeddings_project', 'd', 'e', true) }),
      ...selfAttention(of),
      ...(firstPosition > 0 && { padding: firstPosition - 1 }),
      ...sizes(of, firstPosition),
    };
  },
});

export const encoderFamilies: readonly FamilyRow[] = [
  {
    family: 'mpnet',
    sign: ['encoder.relative_attention_bias.weight', 'encoder.layer.0.attention.attn.q.weight'],
    names: [...namesOfTables, ...namesIn('encoder.layer', mpnet)],
    read(of) {
      const tables = bertTables(of, false);
      const relativeBias = of.need('encoder.relative_attention_bias.weight', 32, 'H');
      of.size.d = of.size.e as number;
      return {
        family: 'mpnet',
        name: 'MPNet',
        about:
          'Token and position rows are added and normalised; a bias by the distance of two tokens is added to each head’s scores, the same in every layer.',
        ...tables,
        ...sizes(of, 2),
        padding: 1,
        relativeBias,
        heads: of.size.H as number,
        query: of.linear('encoder.layer.0.attention.attn.q', 'd', 'd', true),
        key: of.linear('encoder.layer.0.attention.attn.k', 'd', 'd', true),
      };
    },
  },
  {
    family: 'distilbert',
    sign: ['embeddings.word_embeddings.weight', 'transformer.layer.0.attention.q_lin.weight'],
    names: [...namesOfTables, ...namesIn('transformer.layer', distilBert)],
    read(of) {
      const tables = bertTables(of, false);
      of.size.d = of.size.e as number;
      return {
        family: 'distilbert',
        name: 'DistilBERT',
        about: 'Token and position rows are added and normalised before W_Q and W_K read them.',
        ...tables,
        ...sizes(of),
        epsilon: 1e-12,
        config: { heads: ['n_heads'], epsilon: [] },
        query: of.linear('transformer.layer.0.attention.q_lin', 'd', 'd', true),
        key: of.linear('transformer.layer.0.attention.k_lin', 'd', 'd', true),
      };
    },
  },
  bertNamed('bert', {}),
  bertNamed('roberta', { firstPosition: 2 }),
  bertNamed('electra', { projected: true }),
];
