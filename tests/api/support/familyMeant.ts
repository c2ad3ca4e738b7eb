// The family that a test means by a file of its own making, which has no config.json to say so.
import type { FamilyId } from 'superpose';

const signs: readonly (readonly [sign: RegExp, family: FamilyId])[] = [
  [/(^|\.)wpe\.weight$/, 'gpt2'],
  [/(^|\.)decoder\.embed_tokens\.weight$/, 'whisper-decoder'],
  [/(^|\.)encoder\.conv1\.weight$/, 'whisper-encoder'],
  [/(^|\.)embed_positions\.weight$/, 'opt'],
  [/(^|\.)text_model\./, 'clip-text'],
  [/(^|\.)vision_model\./, 'clip-vision'],
  [/(^|\.)cls_token$/, 'vit'],
  [/(^|\.)self_attn\.q_norm\.weight$/, 'qwen3'],
  [/(^|\.)self_attn\.q_proj\.bias$/, 'qwen2'],
  [/(^|\.)input_layernorm\.weight$/, 'llama'],
  [/(^|\.)relative_attention_bias\.weight$/, 'mpnet'],
  [/(^|\.)attention\.q_lin\.weight$/, 'distilbert'],
  [/(^|\.)embeddings_project\.weight$|^(discriminator\.)?electra\./, 'electra'],
];

/** By the names of its tensors, and RoBERTa by its one segment. */
export function familyMeant(shapes: Readonly<Record<string, readonly unknown[]>>): FamilyId {
  const names = Object.keys(shapes);
  // OPT's decoder is not Whisper's.
  const whisper = names.some((name) => /(^|\.)encoder\./.test(name));
  const found = signs.find(
    ([sign, family]) => (whisper || family !== 'whisper-decoder') && names.some((name) => sign.test(name)),
  );
  if (found) return found[1];
  const segments = names.find((name) => name.endsWith('token_type_embeddings.weight'));
  return [1, 'one'].includes(shapes[segments ?? '']?.[0] as number) ? 'roberta' : 'bert';
}
