// Hugging Face's own tokenizers, in Rust, as the oracle for ours.
import { createRequire } from 'node:module';
import type * as Rust from 'tokenizers';

// Its module names its exports in a way that an import does not see.
const { Tokenizer }: typeof Rust = createRequire(import.meta.url)('tokenizers');

export interface Cut {
  ids: number[];
  tokens: string[];
}

/**
 * How Rust cuts texts by a tokenizer.json, whole and without padding; undefined for a text that it refuses.
 * Throws Error for a file that it refuses.
 */
export function rustTokenizer(file: string): (texts: readonly string[]) => Promise<(Cut | undefined)[]> {
  const tokenizer = Tokenizer.fromString(file);
  tokenizer.disableTruncation();
  tokenizer.disablePadding();
  const cut = async (texts: readonly string[]): Promise<(Cut | undefined)[]> => {
    try {
      const encodings = await tokenizer.encodeBatch([...texts]);
      return encodings.map((encoding) => ({ ids: encoding.getIds(), tokens: encoding.getTokens() }));
    } catch {
      if (texts.length === 1) return [undefined];
      const each = await Promise.all(texts.map((text) => cut([text])));
      return each.flat();
    }
  };
  return cut;
}
