// Families that add no table of positions: their queries and keys turn by angles, or their scores get a slope or a
// bias for the distance. One table says what tells them apart; everything else is read alike. Sources: the reference
// implementations in Hugging Face's transformers.
import * as check from '../check.js';
import { type Angles, anglesIn, type LayerKind, layerKinds, type Member } from './angles.js';
import { type Config, type FamilyRow, membersOf, refuseSizes, sizes, type Tensors } from './headerTensors.js';
import { type LayerParts, named } from './layerParts.js';
import { type FamilyId, type LayerFacts, type Layout, type LinearNames, modelFamilies } from './layout.js';

/** What tells a family from the others; a member of config.json is written with its value where it is left out. */
interface RelativeFacts {
  /** In modelFamilies. */
  family: FamilyId;
  /** Its usual name. */
  name: string;
  /** The table of tokens. */
  token: string;
  /** What is before the number of a layer. */
  stack: string;
  /** Its tensors. Where queries, keys and values have one name, it has a block of rows for each of the three. */
  parts: LayerParts | ((config: Config) => LayerParts);
  /** Whether those blocks are of each head instead. */
  byHead?: true;
  /** Whether the first layer’s attention has no norm. */
  bareFirst?: true;
  /** After the last layer; left out, norms come after what a layer does. */
  finalNorm?: string;
  /** Of the rows of tokens. */
  embeddingNorm?: string;
  /** Other names that the file may have: buffers. */
  besides?: readonly string[];
  /** What norms do; LayerNorm unless given. */
  norms?: Layout['norms'] | undefined;
  /** See Layout. */
  rootTimes?: true;
  /** See Layout. */
  dropped?(config: Config): Layout['dropped'];
  /** Whether a query sees later keys too. */
  twoSided?: true;
  /** Whether texts begin with no token of the family’s own, so that their first row is like the others. */
  unopened?: true;
  /** The members that give the vocabulary, the width, the heads, a head’s width, heads of keys, and the MLP’s width. */
  members: Partial<Record<'V' | 'd' | 'heads' | 'd_head' | 'keyHeads' | 'inner', string>>;
  /** The member that gives ε. */
  epsilon: string;
  /** The member that gives the activation, and what it is otherwise. */
  activation: Member<string> | ((config: Config) => string);
  /** Whether queries, keys and values, attention’s output, and the MLP have biases. */
  biases: readonly [attention: Flag, output: Flag, mlp: Flag];
  /** What scores are divided by the root of, where it is not the width of a head. */
  under?: Member<number>;
  /** The largest size of scores. */
  cap?: Member<unknown>;
  /** The number of heads where config.json leaves it out, and ε. */
  usual?: { heads: number; epsilon: number };
  /** Whether attention and MLP read the same state. */
  parallel?: Flag;
  /**
   * Angles: the member that gives their base, which part of a head’s channels turns, and which layers do; `local` is the
   * base of layers with a window, where it is another.
   */
  angles?: {
    base: Member<number>;
    local?: Member<number>;
    share?: Member<number>;
    turns?(config: Config, layer: number): boolean;
  };
  /** The kind of a layer, in a family whose kinds turn by angles of their own. */
  kind?(config: Config, layer: number): LayerKind;
  /** How many keys a query sees on one side, itself counted; undefined for all. */
  window?(config: Config, layer: number, turns: boolean, kind: LayerKind | undefined): number | undefined;
  /** Whether each head’s scores fall with the distance. */
  slopes?: true;
  /** The table of numbers for distances. Scores are then no part of √d_h. */
  bias?: string;
  /** The table of rows for distances; its norm; and what config.json says of it. */
  distances?: {
    rows: string;
    norm?: string;
    of(config: Config): {
      buckets: number;
      furthest: number;
      types: string[];
      shared: boolean;
      normed: boolean;
    };
  };
  /** Throws for what is not run here. */
  refuse?(config: Config): void;
}

type Flag = boolean | Member<boolean>;

const flagIn = (config: Config, flag: Flag): boolean =>
  typeof flag === 'boolean' ? flag : check.flag(`${flag[0]} in config.json`, config[flag[0]] ?? flag[1]);

const wholeIn = (config: Config, name: string, usual?: number): number =>
  check.integer(`${name} in config.json`, config[name] ?? usual, 0);

/** Where most files' config.json has the sizes. */
const usualMembers = {
  V: 'vocab_size',
  d: 'hidden_size',
  heads: 'num_attention_heads',
  inner: 'intermediate_size',
} as const;

const llama: LayerParts = {
  ...named(
    'self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj input_layernorm mlp.up_proj mlp.down_proj post_attention_layernorm',
  ),
  gate: 'mlp.gate_proj',
};

/** What those have in common that took over Llama’s names. */
const likeLlama = {
  token: 'embed_tokens',
  stack: 'layers',
  parts: llama,
  finalNorm: 'norm',
  besides: ['layers.#.self_attn.rotary_emb.inv_freq'],
  norms: { kind: 'rms_norm' },
  members: { ...usualMembers, d_head: 'head_dim', keyHeads: 'num_key_value_heads' },
  epsilon: 'rms_norm_eps',
  activation: ['hidden_act', 'silu'],
  angles: { base: ['rope_theta', 10_000] },
} as const satisfies Partial<RelativeFacts>;

/** What layer_types says of a layer; undefined without it. */
function kindIn({ layer_types: types = null }: Config, layer: number): LayerKind | undefined {
  if (types === null) return undefined;
  if (!Array.isArray(types)) check.refuse('layer_types in config.json', 'a list', types, false);
  return check.oneOf(`layer_types[${layer}] in config.json`, types[layer], layerKinds);
}

/** The kind of a layer where all but every `period`-th, from the `first` of them on, have a window. */
const kindByTurns = (config: Config, layer: number, first: number, period: number): LayerKind =>
  kindIn(config, layer) ?? layerKinds[layer % period === first ? 0 : 1];

/** Windows of the layers that layer_types names; without it of those that `otherwise` says. */
const windowOf =
  (otherwise: (config: Config, layer: number, turns: boolean) => boolean) =>
  (config: Config, layer: number, turns: boolean): number | undefined => {
    const used = check.flag('use_sliding_window in config.json', config.use_sliding_window ?? false);
    const wide = used ? (config.sliding_window ?? undefined) : undefined;
    const one = kindIn(config, layer);
    if (one === 'sliding_attention' && wide === undefined)
      throw new RangeError(
        `config.json has “sliding_attention” for layer ${layer}, but no sliding_window in use. Give use_sliding_window true and a sliding_window.`,
      );
    const windowed =
      one === undefined ? wide !== undefined && otherwise(config, layer, turns) : one === layerKinds[1];
    return windowed ? check.integer('sliding_window in config.json', wide, 1) : undefined;
  };

/** Qwen’s: the layers from max_window_layers on. */
const qwenWindow = windowOf((config, layer) => layer >= wholeIn(config, 'max_window_layers', 28));

/** What Gemma and its successors have in common. */
const likeGemma = {
  ...likeLlama,
  norms: { kind: 'rms_norm', plus: 1 },
  rootTimes: true,
  // Published files have gelu as hidden_act, which their models do not run.
  activation: ['hidden_activation', 'gelu_pytorch_tanh'],
  biases: [['attention_bias', false], ['attention_bias', false], false],
} as const satisfies Partial<RelativeFacts>;

/** Norms before and after what a layer does. */
const sandwiched: LayerParts = {
  ...llama,
  outputNorm: 'post_attention_layernorm',
  mlpNorm: 'pre_feedforward_layernorm',
  downNorm: 'post_feedforward_layernorm',
};

const gemmaWindow = (config: Config, _: number, __: boolean, kind: LayerKind | undefined) =>
  kind === layerKinds[1]
    ? check.integer('sliding_window in config.json', config.sliding_window ?? 4096, 1)
    : undefined;

/** What both versions of DeBERTa have in common. */
const likeDeberta = {
  token: 'embeddings.word_embeddings',
  stack: 'encoder.layer',
  embeddingNorm: 'embeddings.LayerNorm',
  besides: ['embeddings.position_ids'],
  twoSided: true,
  members: usualMembers,
  epsilon: 'layer_norm_eps',
  activation: ['hidden_act', 'gelu'],
  refuse(config) {
    for (const [member, usual, wanted] of [
      ['relative_attention', false, true],
      ['position_biased_input', true, false],
    ] as const) {
      if (check.flag(`${member} in config.json`, config[member] ?? usual) !== wanted)
        throw new RangeError(
          `DeBERTa can be read with ${member} ${wanted} in config.json alone, which is not what it says or leaves out.`,
        );
    }
  },
} as const satisfies Partial<RelativeFacts>;

/** What config.json says in one text with | between its parts, or in a list. */
function textsIn(config: Config, member: string): string[] {
  const given = config[member] ?? [];
  const texts = typeof given === 'string' ? given.split('|') : given;
  if (!Array.isArray(texts)) check.refuse(`${member} in config.json`, 'a text or a list', given, false);
  return texts.map((one) => String(one).trim().toLowerCase());
}

function distancesIn(config: Config) {
  const types = textsIn(config, 'pos_att_type');
  for (const one of types) check.oneOf('an entry of pos_att_type in config.json', one, ['c2p', 'p2c']);
  const whole = (member: string, usual: number) =>
    check.integer(`${member} in config.json`, config[member] ?? usual, -1);
  const most = whole('max_relative_positions', -1);
  return {
    types,
    buckets: Math.max(0, whole('position_buckets', -1)),
    furthest: most < 1 ? whole('max_position_embeddings', 512) : most,
    shared: check.flag('share_att_key in config.json', config.share_att_key ?? false),
    normed: textsIn(config, 'norm_rel_ebd').includes('layer_norm'),
  };
}

const facts: readonly RelativeFacts[] = [
  {
    ...likeLlama,
    family: 'llama',
    name: 'Llama',
    biases: [
      ['attention_bias', false],
      ['attention_bias', false],
      ['mlp_bias', false],
    ],
  },
  {
    ...likeLlama,
    family: 'mistral',
    name: 'Mistral',
    biases: [false, false, false],
    window(config) {
      const { sliding_window: wide = 4096 } = config;
      return wide === null ? undefined : check.integer('sliding_window in config.json', wide, 1);
    },
  },
  { ...likeLlama, family: 'qwen2', name: 'Qwen2', biases: [true, false, false], window: qwenWindow },
  {
    ...likeLlama,
    family: 'qwen3',
    name: 'Qwen3',
    parts: { ...llama, queryNorm: 'self_attn.q_norm', keyNorm: 'self_attn.k_norm' },
    biases: [['attention_bias', false], ['attention_bias', false], false],
    window: qwenWindow,
  },
  {
    ...likeLlama,
    family: 'smollm3',
    name: 'SmolLM3',
    biases: [
      ['attention_bias', false],
      ['attention_bias', false],
      ['mlp_bias', false],
    ],
    angles: {
      base: ['rope_theta', 2_000_000],
      // 1 where a layer turns, whatever the name says.
      turns(config, layer) {
        const { no_rope_layers: listed } = config;
        if (listed == null) return (layer + 1) % wholeIn(config, 'no_rope_layer_interval', 4) !== 0;
        if (!Array.isArray(listed)) check.refuse('no_rope_layers in config.json', 'a list', listed, false);
        return check.integer(`no_rope_layers[${layer}] in config.json`, listed[layer], 0, 1) === 1;
      },
    },
    window: windowOf((_, __, turns) => !turns),
  },
  {
    family: 'gpt-neox',
    name: 'GPT-NeoX',
    token: 'embed_in',
    stack: 'layers',
    parts: named(
      'attention.query_key_value attention.query_key_value attention.query_key_value attention.dense input_layernorm mlp.dense_h_to_4h mlp.dense_4h_to_h post_attention_layernorm',
    ),
    byHead: true,
    finalNorm: 'final_layer_norm',
    besides: ['layers.#.attention.{bias,masked_bias,rotary_emb.inv_freq}'],
    members: usualMembers,
    epsilon: 'layer_norm_eps',
    activation: ['hidden_act', 'gelu'],
    biases: [['attention_bias', true], ['attention_bias', true], true],
    parallel: ['use_parallel_residual', true],
    angles: { base: ['rotary_emb_base', 10_000], share: ['rotary_pct', 0.25] },
  },
  {
    family: 'bloom',
    name: 'BLOOM',
    token: 'word_embeddings',
    stack: 'h',
    parts: named(
      'self_attention.query_key_value self_attention.query_key_value self_attention.query_key_value self_attention.dense input_layernorm mlp.dense_h_to_4h mlp.dense_4h_to_h post_attention_layernorm',
    ),
    byHead: true,
    finalNorm: 'ln_f',
    embeddingNorm: 'word_embeddings_layernorm',
    members: { V: 'vocab_size', d: 'n_embed', heads: 'n_head' },
    epsilon: 'layer_norm_epsilon',
    activation: () => 'gelu_new',
    biases: [true, true, true],
    slopes: true,
  },
  {
    family: 't5',
    name: 'T5’s encoder',
    token: 'shared',
    stack: 'encoder.block',
    parts: (config) =>
      feedForward(config).gated ? { ...t5, up: `${t5Inner}wi_1`, gate: `${t5Inner}wi_0` } : t5,
    finalNorm: 'encoder.final_layer_norm',
    norms: { kind: 'rms_norm' },
    twoSided: true,
    unopened: true,
    members: { V: 'vocab_size', d: 'd_model', heads: 'num_heads', d_head: 'd_kv', inner: 'd_ff' },
    epsilon: 'layer_norm_epsilon',
    activation: (config) => feedForward(config).activation,
    biases: [false, false, false],
    bias: 'encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight',
  },
  { ...likeGemma, family: 'gemma', name: 'Gemma' },
  {
    ...likeGemma,
    family: 'gemma2',
    under: ['query_pre_attn_scalar', 256],
    name: 'Gemma 2',
    parts: sandwiched,
    cap: ['attn_logit_softcapping', 50],
    kind: (config, layer) => kindByTurns(config, layer, 1, 2),
    window: gemmaWindow,
  },
  {
    ...likeGemma,
    family: 'gemma3',
    under: ['query_pre_attn_scalar', 256],
    name: 'Gemma 3',
    parts: { ...sandwiched, queryNorm: 'self_attn.q_norm', keyNorm: 'self_attn.k_norm' },
    usual: { heads: 8, epsilon: 1e-6 },
    kind(config, layer) {
      const { sliding_window_pattern: old, _sliding_window_pattern: period = old ?? 6 } = config;
      const every = check.integer('sliding_window_pattern in config.json', period, 1);
      return kindByTurns(config, layer, every - 1, every);
    },
    angles: { base: ['rope_theta', 1_000_000], local: ['rope_local_base_freq', 10_000] },
    window: gemmaWindow,
  },
  {
    ...likeDeberta,
    family: 'deberta',
    name: 'DeBERTa',
    parts: {
      ...named(
        'attention.self.in_proj attention.self.in_proj attention.self.in_proj attention.output.dense attention.output.LayerNorm intermediate.dense output.dense output.LayerNorm',
      ),
      queryBias: 'attention.self.q_bias',
      valueBias: 'attention.self.v_bias',
      distanceKey: 'attention.self.pos_proj',
      distanceQuery: 'attention.self.pos_q_proj',
    },
    byHead: true,
    biases: [false, true, true],
    distances: {
      rows: 'encoder.rel_embeddings',
      of: (config) => ({ ...distancesIn(config), buckets: 0, shared: false, normed: false }),
    },
  },
  {
    ...likeDeberta,
    family: 'deberta-v2',
    name: 'DeBERTa-v2',
    parts: {
      ...named(
        'attention.self.query_proj attention.self.key_proj attention.self.value_proj attention.output.dense attention.output.LayerNorm intermediate.dense output.dense output.LayerNorm',
      ),
      distanceKey: 'attention.self.pos_key_proj',
      distanceQuery: 'attention.self.pos_query_proj',
    },
    biases: [true, true, true],
    distances: { rows: 'encoder.rel_embeddings', norm: 'encoder.LayerNorm', of: distancesIn },
  },
  {
    family: 'modernbert',
    name: 'ModernBERT',
    token: 'embeddings.tok_embeddings',
    stack: 'layers',
    parts: {
      ...named('attn.Wqkv attn.Wqkv attn.Wqkv attn.Wo attn_norm mlp.Wi mlp.Wo mlp_norm'),
      gate: 'mlp.Wi',
    },
    bareFirst: true,
    finalNorm: 'final_norm',
    embeddingNorm: 'embeddings.norm',
    norms: { kind: 'layer_norm' },
    twoSided: true,
    members: usualMembers,
    epsilon: 'norm_eps',
    activation: ['hidden_activation', 'gelu'],
    biases: [
      ['attention_bias', false],
      ['attention_bias', false],
      ['mlp_bias', false],
    ],
    kind: (config, layer) =>
      kindByTurns(
        config,
        layer,
        0,
        check.integer('global_attn_every_n_layers in config.json', config.global_attn_every_n_layers ?? 3, 1),
      ),
    angles: { base: ['global_rope_theta', 160_000], local: ['local_rope_theta', 10_000] },
    // As far to either side.
    window: (config, _, __, kind) =>
      kind === layerKinds[1] ? Math.floor(wholeIn(config, 'local_attention', 128) / 2) + 1 : undefined,
  },
  {
    family: 'esm',
    name: 'ESM-2',
    token: 'embeddings.word_embeddings',
    stack: 'encoder.layer',
    parts: named(
      'attention.self.query attention.self.key attention.self.value attention.output.dense attention.LayerNorm intermediate.dense output.dense LayerNorm',
    ),
    finalNorm: 'encoder.emb_layer_norm_after',
    // Of an unused table, which published files have.
    besides: [
      'embeddings.position_embeddings.weight',
      'embeddings.position_ids',
      'encoder.layer.#.attention.self.rotary_embeddings.inv_freq',
    ],
    twoSided: true,
    members: usualMembers,
    epsilon: 'layer_norm_eps',
    // Whatever hidden_act says.
    activation: () => 'gelu',
    biases: [true, true, true],
    angles: { base: ['rope_theta', 10_000] },
    refuse({ position_embedding_type: given = 'absolute' }) {
      // ESM-1's, unless it is said.
      check.oneOf('position_embedding_type in config.json', given, ['rotary']);
    },
    dropped: (config) =>
      check.flag('token_dropout in config.json', config.token_dropout ?? false)
        ? { mask: config.mask_token_id == null ? undefined : wholeIn(config, 'mask_token_id') }
        : undefined,
  },
];

const t5Inner = 'layer.1.DenseReluDense.';
const t5 = named(
  `layer.0.SelfAttention.q layer.0.SelfAttention.k layer.0.SelfAttention.v layer.0.SelfAttention.o layer.0.layer_norm ${t5Inner}wi ${t5Inner}wo layer.1.layer_norm`,
);

/** “gated-gelu” means the tanh form. */
function feedForward(config: Config): { gated: boolean; activation: string } {
  const given = config.feed_forward_proj ?? (config.model_type === 'mt5' ? 'gated-gelu' : 'relu');
  if (typeof given !== 'string') check.refuse('feed_forward_proj in config.json', 'a text', given, false);
  const gated = given.startsWith('gated-');
  const name = gated ? given.slice('gated-'.length) : given;
  return { gated, activation: gated && name === 'gelu' ? 'gelu_new' : name };
}

/** The tensors of a table of distances. */
function distancesOf(
  of: Tensors,
  { rows, norm }: NonNullable<RelativeFacts['distances']>,
  { buckets, furthest, types, shared, normed }: ReturnType<typeof distancesIn>,
): NonNullable<LayerFacts['distances']> {
  const name = of.need(`${rows}.weight`, 'distances', 'd');
  const half = (of.size.distances as number) / 2;
  if (half !== (buckets || furthest))
    throw new RangeError(
      `config.json says ${buckets ? 'position_buckets' : 'max_relative_positions'} ${buckets || furthest}, but ${rows}.weight has ${2 * half} rows, not twice as many.`,
    );
  return {
    rows: name,
    ...(normed && norm && { norm: of.norm(norm) }),
    buckets: buckets ? { buckets, furthest } : undefined,
    key: types.includes('c2p'),
    query: types.includes('p2c'),
    shared,
  };
}

/** null means that there is none. */
function capIn(config: Config, cap: Member<unknown> | undefined): number | undefined {
  if (!cap) return undefined;
  const { [cap[0]]: given = cap[1] } = config;
  return given === null ? undefined : check.positive(`${cap[0]} in config.json`, given);
}

const told = {
  angles:
    'No table of positions is added: queries and keys turn by angles that grow with their position. Scores are taken apart by the means of queries and keys over a corpus.',
  slopes:
    'No table of positions is added: the scores of each head fall with the distance, by a slope of its own. They are taken apart by the means of queries and keys over a corpus.',
  rows: 'No table of positions is added: queries and keys meet keys and queries of the distance, which a table has rows for. Scores are taken apart by the means of queries and keys over a corpus.',
  bias: 'No table of positions is added: each head’s scores get a number for the distance. They are taken apart by the means of queries and keys over a corpus.',
};

export const relativeFamilies: readonly FamilyRow[] = facts.map((one) => {
  const { token, stack, bias, distances, besides = [], embeddingNorm, finalNorm, norms } = one;
  const all = (config: Config) => (typeof one.parts === 'function' ? one.parts(config) : one.parts);
  const { attentionNorm, mlpNorm, downNorm, query } = all({});
  const signNorm = one.bareFirst ? mlpNorm : attentionNorm;
  const ofNorm = norms ? 'weight' : '{weight,bias}';
  // Those of either kind of MLP, since config.json says which it is.
  const maps = [all({}), all({ feed_forward_proj: 'gated-gelu' })].flatMap((parts) => Object.entries(parts));
  return {
    family: one.family,
    sign: bias
      ? [bias]
      : [
          `${token}.weight`,
          ...(embeddingNorm ? [`${embeddingNorm}.weight`] : []),
          `${stack}.0.${signNorm}.weight`,
          ...(norms ? [] : [`${stack}.0.${signNorm}.bias`]),
          `${stack}.0.${query}.weight`,
          // It tells Gemma's successors from it.
          ...(downNorm ? [`${stack}.0.${downNorm}.weight`] : []),
        ],
    names: [
      ...new Set(
        maps.map(
          ([part, name]) =>
            `${stack}.#.${name}${part.endsWith('Bias') ? '' : part.endsWith('Norm') ? `.${ofNorm}` : '.{weight,bias}'}`,
        ),
      ),
      ...(finalNorm ? [`${finalNorm}.${ofNorm}`] : []),
      ...(distances ? [`${distances.rows}.weight`] : []),
      ...(distances?.norm ? [`${distances.norm}.{weight,bias}`] : []),
      ...(embeddingNorm ? [`${embeddingNorm}.${ofNorm}`] : []),
      ...(bias ? ['shared.weight', 'encoder.embed_tokens.weight'] : []),
      ...besides,
    ],
    never: ['embed_positions', 'wpe'],
    read(of, whole) {
      const config = membersOf(whole, withinOf(one.family));
      return layoutOf(one, all(config), of, config);
    },
  };
});

/** The member of config.json that holds a family’s. */
function withinOf(family: FamilyId): string | undefined {
  const facts = modelFamilies[family];
  return 'within' in facts ? facts.within : undefined;
}

function layoutOf(one: RelativeFacts, parts: LayerParts, of: Tensors, config: Config): Layout {
  one.refuse?.(config);
  const { stack, norms, members, angles } = one;
  const inLayer = (part: keyof LayerParts) => `${stack}.0.${parts[part]}`;
  // A file of T5's encoder alone may have its own name for the table.
  const other = 'encoder.embed_tokens';
  const shared = one.bias && !of.has(`${one.token}.weight`) && of.has(`${other}.weight`) ? other : one.token;
  const token = of.need(`${shared}.weight`, 'V', 'd');
  const norm = (name: string) => ({
    gamma: of.need(`${name}.weight`, 'd'),
    ...(!norms && { beta: of.need(`${name}.bias`, 'd') }),
  });
  if (!one.bareFirst) norm(inLayer('attentionNorm'));
  const joined = parts.query === parts.value;
  const [attention, output, mlp] = one.biases.map((flag) => flagIn(config, flag)) as [
    boolean,
    boolean,
    boolean,
  ];
  const map = (part: 'query' | 'key', rows: string): LinearNames => ({
    weight: of.need(`${inLayer(part)}.weight`, rows, 'd'),
    bias: of.perhaps(`${inLayer(part)}.bias`, rows),
  });
  const query = map('query', joined ? '3d' : 'q');
  const key = joined ? query : map('key', 'k');
  const headNorm = parts.queryNorm && of.need(`${inLayer('queryNorm')}.weight`, 'h');
  if (parts.keyNorm) of.need(`${inLayer('keyNorm')}.weight`, 'h');
  const relativeBias = one.bias && of.need(one.bias, 32, 'heads');
  const { V, d, heads } = of.size;
  const named = Object.entries({ V, d, heads }).map(([letter, size]) => [
    members[letter as 'V'] ?? letter,
    size,
  ]);
  refuseSizes(config, Object.fromEntries(named));
  const relative = angles ? 'angles' : one.slopes ? 'slopes' : one.distances ? 'rows' : 'bias';
  const kindOf = (layer: number) => one.kind?.(config, layer);
  const turn = (layer: number): Angles | undefined => {
    if (!angles || !(angles.turns?.(config, layer) ?? true)) return undefined;
    const kind = kindOf(layer);
    const base = kind === layerKinds[1] ? (angles.local ?? angles.base) : angles.base;
    return anglesIn(config, base, angles.share, angles.local && kind);
  };
  const window = (layer: number) => one.window?.(config, layer, turn(layer) !== undefined, kindOf(layer));
  // Asked of the first layer now, so that what is wrong with it is said before anything is read.
  turn(0);
  window(0);
  const activation =
    typeof one.activation === 'function'
      ? one.activation(config)
      : (config[one.activation[0]] ?? one.activation[1]);
  const said = one.distances?.of(config);
  const within = withinOf(one.family);
  const dropped = one.dropped?.(config);
  const longest = config.max_position_embeddings ?? config.n_positions;
  return {
    family: one.family,
    name: one.name,
    kind: 'tokens',
    about: `${told[relative]}${one.twoSided ? '' : ' A query sees no later key.'}`,
    token,
    ...(one.embeddingNorm && { embeddingNorm: norm(one.embeddingNorm) }),
    ...(relativeBias && { relativeBias, unscaled: true, heads: heads as number }),
    query,
    key,
    causal: !one.twoSided,
    // Whatever the first token is, later queries look at it: its rows are like no others.
    apart: one.unopened ? [] : [0],
    ...(one.twoSided && { ended: true }),
    ...(one.finalNorm && { finalNorm: `${of.prefix}${one.finalNorm}` }),
    ...(one.usual && { usualHeads: one.usual.heads, epsilon: one.usual.epsilon }),
    ...(norms && { norms }),
    ...(headNorm && { headNorm, d_head: of.size.h as number }),
    ...(one.rootTimes && { rootTimes: true }),
    ...(dropped && { dropped }),
    relative,
    ...(typeof longest === 'number' && one.angles && { longest }),
    layer: {
      parts,
      activation,
      inner: members.inner,
      biases: { attention, output, mlp },
      members: { d_head: members.d_head, keyHeads: members.keyHeads },
      parallel: one.parallel !== undefined && flagIn(config, one.parallel),
      turn,
      byHead: one.byHead ?? false,
      norms: one.finalNorm === undefined ? 'post' : one.bareFirst ? 'pre but the first' : 'pre',
      products: 1 + (said?.types.length ?? 0),
      ...(said && one.distances && { distances: distancesOf(of, one.distances, said) }),
      window,
      under:
        one.under && check.positive(`${one.under[0]} in config.json`, config[one.under[0]] ?? one.under[1]),
      cap: capIn(config, one.cap),
    },
    config: {
      ...(within && { within }),
      heads: [members.heads as string, 'num_attention_heads'],
      epsilon: [one.epsilon],
    },
    ...sizes(of),
    ...(of.size.k && { keyChannels: of.size.k }),
  };
}
