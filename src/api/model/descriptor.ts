// The description of a family of models: the names of its tensors, the members of its config.json, and what
// it computes. families.ts has one descriptor per family. The code that reads files (recognize.ts,
// layers.ts), the report and the tests know a family only by its descriptor.

/** The members of a config.json; an empty object without such a file. */
export type Config = Readonly<Record<string, unknown>>;

/** A member of config.json, and its default. */
export interface Member<T> {
  /** Its name in config.json. */
  readonly member: string;
  /** Its value where config.json lacks it. */
  readonly default: T;
}

/**
 * The names of a layer's tensors, after the layer's number and without `.weight` or `.bias`. If queries,
 * keys and values have the same name, one tensor holds all three, in this order.
 */
export interface LayerNames {
  /** W_Q. */
  readonly query: string;
  /** W_K. */
  readonly key: string;
  /** W_V. */
  readonly value: string;
  /** W_O. */
  readonly output: string;
  /** The norm before or after attention, as `norms.place` says. */
  readonly attentionNorm: string;
  /** The first map of the MLP. */
  readonly up: string;
  /** The second map of the MLP. */
  readonly down: string;
  /** The norm before or after the MLP, as `norms.place` says. */
  readonly mlpNorm: string;
  /** The map whose activated output is multiplied with the output of `up`. */
  readonly gate?: string;
  /** The norm of each head's queries, before they are rotated. */
  readonly queryNorm?: string;
  /** The norm of each head's keys, before they are rotated. */
  readonly keyNorm?: string;
}

/** The names of the tensors in a family's files, after a prefix that each file chooses. */
export interface TensorNames {
  /** The tables whose rows are summed. */
  readonly tables: { readonly token: string; readonly position?: string; readonly segment?: string };
  /** The norm of that sum. */
  readonly embeddingNorm?: string;
  /** The name before the number of a layer. */
  readonly layers: string;
  /** The names after that number. */
  readonly layer: LayerNames;
  /** The norm after the last layer. */
  readonly finalNorm?: string;
  /** Other tensors that a file may have: saved masks and angles. `#` stands for a layer's number. */
  readonly ignored?: readonly string[];
  /** Whether the weights of all maps are stored as [in, out], as Conv1D has them, instead of [out, in]. */
  readonly transposed?: true;
}

/** A sliding window: the queries of a layer see only the nearest keys. */
export interface Window {
  /** How many keys a query sees, itself included. */
  readonly keys: Member<number>;
  /** The flag that switches the window on; without one it is always on. */
  readonly flag?: string;
  /**
   * The first layer with a window, unless layer_types in config.json lists the layers that have one. If this
   * is left out, all layers have one.
   */
  readonly firstLayer?: Member<number>;
}

/** How positions get into the model. */
export type Positions =
  /**
   * Rows of a position table are added to token rows. The first token gets row `firstRow`, and padding gets
   * the row before it.
   */
  | { readonly kind: 'added'; readonly firstRow: number }
  /** Queries and keys are rotated (RoPE); `base` is the base of the angles. */
  | { readonly kind: 'rotary'; readonly base: Member<number>; readonly window?: Window };

/**
 * Whether something exists, or the name of the member of config.json that says so and is false by default.
 */
type Flag = boolean | string;

export interface FamilyDescriptor {
  /** The family's name in prose. */
  readonly name: string;
  /** The values of model_type in config.json that mean this family. */
  readonly modelTypes: readonly string[];
  /** What the first layer reads, in sentences. */
  readonly about: string;
  /** The names of the tensors. */
  readonly tensors: TensorNames;
  /** How position gets into the model. */
  readonly positions: Positions;
  /**
   * The kind of the norms, of which RMSNorm has no bias; whether they come before attention and MLP or after
   * them; and ε, or the member of config.json that gives it.
   */
  readonly norms: {
    readonly kind: 'layer_norm' | 'rms_norm';
    readonly place: 'pre' | 'post';
    readonly epsilon: number | string;
  };
  /** Which maps have biases: those of queries, keys and values; W_O; and those of the MLP. */
  readonly biases: { readonly attention: Flag; readonly output: Flag; readonly mlp: Flag };
  /** The activation of the MLP. */
  readonly activation: Member<string>;
  /** Whether a query sees no later key. */
  readonly causal: boolean;
  /** How many special tokens every sentence begins and ends with. */
  readonly markers: { readonly before: 0 | 1; readonly after: 0 | 1 };
  /** The members of config.json that give sizes. */
  readonly sizes: {
    readonly vocabulary: string;
    /** Rows of the position table, or the largest number of tokens. */
    readonly positions: string;
    readonly segments?: string;
    readonly d_model: string;
    readonly inner: string;
    readonly layers: string;
    readonly heads: string;
    readonly keyHeads?: string;
    readonly d_head?: string;
  };
  /**
   * Members of config.json that change what is computed, each with the values that can be read here. A
   * member that is left out has the first of its values.
   */
  readonly config: Readonly<Record<string, readonly unknown[]>>;
}

/** What most families call their sizes. */
export const commonSizes = {
  vocabulary: 'vocab_size',
  positions: 'max_position_embeddings',
  d_model: 'hidden_size',
  inner: 'intermediate_size',
  layers: 'num_hidden_layers',
  heads: 'num_attention_heads',
} as const;

/** The name of a layer's tensor after the file's prefix, without `.weight` or `.bias`. */
export const layerTensor = (
  { tensors }: FamilyDescriptor,
  layer: number | '#',
  part: keyof LayerNames,
): string => `${tensors.layers}.${layer}.${tensors.layer[part]}`;

/**
 * The tensors by which a model of this family is recognized in a file: the token table and the first W_Q.
 */
export const identifyingTensors = (descriptor: FamilyDescriptor): readonly [token: string, query: string] => [
  `${descriptor.tensors.tables.token}.weight`,
  `${layerTensor(descriptor, 0, 'query')}.weight`,
];

/** The tensors that distinguish this family from others whose tensors have the same names. */
export function distinguishingTensors(descriptor: FamilyDescriptor): string[] {
  const { tables, layer } = descriptor.tensors;
  return [
    ...(tables.segment ? [`${tables.segment}.weight`] : []),
    ...(layer.queryNorm ? [`${layerTensor(descriptor, 0, 'queryNorm')}.weight`] : []),
  ];
}

/** All names that a file of this family may have after its prefix; `#` stands for a layer's number. */
export function allTensors(descriptor: FamilyDescriptor): string[] {
  const { tables, embeddingNorm, layer, finalNorm, ignored = [] } = descriptor.tensors;
  const parts = Object.keys(layer) as (keyof LayerNames)[];
  const withParameters = [
    embeddingNorm,
    finalNorm,
    ...parts.map((part) => layerTensor(descriptor, '#', part)),
  ];
  return [
    ...Object.values(tables).map((name) => `${name}.weight`),
    // Older files of BERT call the parameters of norms gamma and beta.
    ...withParameters.flatMap((name) =>
      name === undefined ? [] : ['weight', 'bias', 'gamma', 'beta'].map((kind) => `${name}.${kind}`),
    ),
    ...ignored,
  ];
}

/** Whether one tensor holds queries, keys and values. */
export const hasJointMap = ({ tensors: { layer } }: FamilyDescriptor): boolean => layer.query === layer.value;
