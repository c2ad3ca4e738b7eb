// What each family calls the tensors of a layer, after the layer's number.

export interface LayerParts {
  /** W_Q */
  query: string;
  /** W_K */
  key: string;
  /** W_V */
  value: string;
  /** W_O */
  output: string;
  /** The norm of attention, before it or after. */
  attentionNorm: string;
  /** The MLP’s first map. */
  up: string;
  /** Its second. */
  down: string;
  /** The norm of the MLP. */
  mlpNorm: string;
  /** What the first map is multiplied by, after the activation: the gate. */
  gate?: string;
  /** The norm of each head's queries, before they turn. */
  queryNorm?: string;
  /** The same of keys. */
  keyNorm?: string;
  /** What makes keys of a table of distances, if that has a map of its own. */
  distanceKey?: string;
  /** The same of queries. */
  distanceQuery?: string;
  /** The bias of queries, where it is not named after their map. */
  queryBias?: string;
  /** The same of values. Keys have none then. */
  valueBias?: string;
  /** The norm of what attention writes, before it is added. */
  outputNorm?: string;
  /** The same of what the MLP writes. */
  downNorm?: string;
}

/** In the order of LayerParts, by spaces. Where queries, keys and values have one name, one tensor holds all three. */
export function named(names: string): LayerParts {
  const [query, key, value, output, attentionNorm, up, down, mlpNorm] = names.split(' ');
  return { query, key, value, output, attentionNorm, up, down, mlpNorm } as LayerParts;
}

export const bert = named(
  'attention.self.query attention.self.key attention.self.value attention.output.dense attention.output.LayerNorm intermediate.dense output.dense output.LayerNorm',
);
export const distilBert = named(
  'attention.q_lin attention.k_lin attention.v_lin attention.out_lin sa_layer_norm ffn.lin1 ffn.lin2 output_layer_norm',
);
export const mpnet = named(
  'attention.attn.q attention.attn.k attention.attn.v attention.attn.o attention.LayerNorm intermediate.dense output.dense output.LayerNorm',
);
export const albert = named(
  'attention.query attention.key attention.value attention.dense attention.LayerNorm ffn ffn_output full_layer_layer_norm',
);
export const gpt2 = named('attn.c_attn attn.c_attn attn.c_attn attn.c_proj ln_1 mlp.c_fc mlp.c_proj ln_2');
export const opt = named(
  'self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.out_proj self_attn_layer_norm fc1 fc2 final_layer_norm',
);
export const vit = named(
  'attention.attention.query attention.attention.key attention.attention.value attention.output.dense layernorm_before intermediate.dense output.dense layernorm_after',
);
/** The same of timm’s. */
export const timm = named('attn.qkv attn.qkv attn.qkv attn.proj norm1 mlp.fc1 mlp.fc2 norm2');
export const dinov2 = named(
  'attention.attention.query attention.attention.key attention.attention.value attention.output.dense norm1 mlp.fc1 mlp.fc2 norm2',
);
export const clip = named(
  'self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.out_proj layer_norm1 mlp.fc1 mlp.fc2 layer_norm2',
);

/** The names of all layers’ tensors as FamilyRow lists them, after what comes before the number. */
export const namesIn = (before: string, parts: LayerParts): string[] =>
  Object.entries(parts).map(
    ([part, name]) => `${before}.#.${name}.{weight,bias${part.endsWith('Norm') ? ',gamma,beta' : ''}}`,
  );
