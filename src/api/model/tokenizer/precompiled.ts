// The table of replacements that SentencePiece compiles into tokenizer.json: a trie in a double array, as
// Darts-clone writes it, and the texts that its values point to.
// Source: the crate spm_precompiled, and Precompiled of Hugging Face's tokenizers.

/** A normalizer from the table in base64. */
export function compiledNormalizer(table: string): (text: string) => string {
  const bytes = Uint8Array.from(atob(table), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const trieBytes = bytes.length < 8 ? 0 : view.getUint32(0, true);
  if (trieBytes === 0 || trieBytes % 4 > 0 || trieBytes > bytes.length - 4) {
    throw new Error('precompiled_charsmap is damaged');
  }
  // Only a damaged trie leads beyond its end; there, each unit counts as 0.
  const unit = (index: number) => (4 * index < trieBytes ? view.getUint32(4 + 4 * index, true) : 0);
  const offset = (of: number) => (of >>> 10) << ((of & 512) >>> 6);
  const texts = bytes.subarray(4 + trieBytes);
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

  /**
   * The replacement of a text: that of its shortest beginning in the trie, which then stands for the whole
   * text.
   */
  const replacement = (text: string): string | undefined => {
    let node = offset(unit(0));
    for (const byte of encoder.encode(text)) {
      node ^= byte;
      if (byte === 0) return undefined;
      const next = unit(node);
      // A unit whose highest bit is set is a value, and has no label.
      if ((next & 0x800000ff) !== byte) return undefined;
      node ^= offset(next);
      if (next & 256) {
        const start = unit(node) & 0x7fffffff;
        const end = texts.indexOf(0, start);
        return decoder.decode(texts.subarray(start, end < 0 ? undefined : end));
      }
    }
    return undefined;
  };

  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  return (text) => {
    let normalized = '';
    for (const { segment } of segmenter.segment(text)) {
      const replaced = encoder.encode(segment).length < 6 ? replacement(segment) : undefined;
      normalized +=
        replaced ?? Array.from(segment, (character) => replacement(character) ?? character).join('');
    }
    return normalized;
  };
}
