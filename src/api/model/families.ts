// Model families, recognised by the names and shapes in a safetensors header alone. Sources: the reference
// implementations in Hugging Face's transformers, and timm for its vision transformers.
import { decoderFamilies } from './decoderFamilies.js';
import { encoderFamilies } from './encoderFamilies.js';
import { type Header, matching, quoted, tensorsBehind } from './headerTensors.js';
import { imageFamilies } from './imageFamilies.js';
import type { FamilyId, Layout } from './layout.js';
import { refuseOthers } from './refusedFamilies.js';

/** The order matters: the signs of some families are among the names of others. */
const rows = [...decoderFamilies, ...imageFamilies, ...encoderFamilies];

/**
 * Reads a header into layouts, one for each model in the file. Throws a RangeError whose sentence says why
 * the file is refused.
 */
export function recognised(header: Header): Layout[] {
  refuseOthers(header);
  const found = rows.flatMap((row) => {
    const prefix = matching(header, row.sign);
    return prefix === undefined ? [] : [{ row, prefix }];
  });
  const [first] = found;
  if (!first) {
    const names = [...header.keys()].slice(0, 3).map(quoted).join(', ');
    throw new RangeError(
      `No family of models that can be read here has these tensors (${names || 'there are none'}). Families are BERT, DistilBERT, RoBERTa, ELECTRA, MPNet, GPT-2, OPT, ViT, DeiT, CLIP, Whisper and models with RoPE and Llama’s names.`,
    );
  }
  // Two models may share a file: CLIP's text and vision, Whisper's encoder and decoder.
  const together = found.filter(({ row }) => pairs.get(row.family) === pairs.get(first.row.family));
  const chosen = pairs.has(first.row.family) ? together : [first];
  return chosen.map(({ row, prefix }) => row.read(tensorsBehind(header, prefix)));
}

const pairs = new Map<FamilyId, string>([
  ['clip-text', 'clip'],
  ['clip-vision', 'clip'],
  ['whisper-decoder', 'whisper'],
  ['whisper-encoder', 'whisper'],
]);
