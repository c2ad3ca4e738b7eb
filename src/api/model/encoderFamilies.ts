// BERT and its relatives, ALBERT among them: tables of tokens, positions and segments, added up and normalized.
import * as check from '../check.js';
import {
  bertConfig,
  type Config,
  type FamilyRow,
  refuseSizes,
  sizes,
  type Tensors,
} from './headerTensors.js';
import { albert, bert, distilBert, mpnet, namesIn } from './layerParts.js';
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

const threeTables = 'Token, position and segment rows are added and normalized before W_Q and W_K read them.';

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
        ? 'Token, position and segment rows are added, normalized and mapped to the model’s width before W_Q and W_K read them.'
        : `${threeTables}${firstPosition > 0 ? ` The first position is in row ${firstPosition}.` : ''}`,
      ...tables,
      ...(narrow && { projection: of.linear('embeddings_project', 'd', 'e', true) }),
      ...selfAttention(of),
      ...(firstPosition > 0 && { padding: firstPosition - 1 }),
      ...sizes(of, firstPosition),
    };
  },
});

/** How ALBERT’s layers share their weights. The file has each once, and only config.json says how often it is run. */
function sharedIn(of: Tensors, config: Config) {
  const member = (name: string, otherwise: number, most: number) =>
    check.integer(`${name} in config.json`, config[name] ?? otherwise, 1, most);
  const has = (group: number, inner: number) =>
    of.has(`encoder.albert_layer_groups.${group}.albert_layers.${inner}.ffn_output.weight`);
  let [groups, inner] = [0, 0];
  while (has(groups, 0)) groups += 1;
  while (has(0, inner)) inner += 1;
  refuseSizes(
    { num_hidden_groups: 1, inner_group_num: 1, ...config },
    { num_hidden_groups: groups || undefined, inner_group_num: inner || undefined },
  );
  const rounds = config.num_hidden_layers === undefined ? 0 : member('num_hidden_layers', 0, 1000);
  return { layers: rounds * inner, groups, inner };
}

export const encoderFamilies: readonly FamilyRow[] = [
  {
    family: 'albert',
    sign: [
      'encoder.embedding_hidden_mapping_in.weight',
      'encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight',
    ],
    names: [
      ...namesOfTables,
      'encoder.embedding_hidden_mapping_in.bias',
      ...namesIn('encoder.albert_layer_groups.#.albert_layers', albert),
    ],
    read(of, config) {
      const tables = bertTables(of, true);
      const projection = of.linear('encoder.embedding_hidden_mapping_in', 'd', 'e', true);
      const { V, L, S, d, e } = of.size;
      refuseSizes(config, {
        vocab_size: V,
        max_position_embeddings: L,
        type_vocab_size: S,
        hidden_size: d,
        embedding_size: e,
      });
      const name = 'encoder.albert_layer_groups.0.albert_layers.0.attention';
      return {
        family: 'albert',
        name: 'ALBERT',
        about:
          'Token, position and segment rows are added, normalized and mapped to the model’s width before W_Q and W_K read them. Layers share their weights.',
        ...tables,
        projection,
        ...selfAttention(of, name),
        shared: sharedIn(of, config),
        epsilon: 1e-12,
        ...sizes(of),
      };
    },
  },
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
          'Token and position rows are added and normalized; a bias by the distance of two tokens is added to each head’s scores, the same in every layer.',
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
        about: 'Token and position rows are added and normalized before W_Q and W_K read them.',
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
