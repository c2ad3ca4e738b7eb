// Hugging Face's own tokenizers, in Rust, as the oracle for ours.
import { createRequire } from 'node:module';
import type * as Rust from 'tokenizers';

// The exports of this CommonJS module cannot be seen by an import.
const { Tokenizer }: typeof Rust = createRequire(import.meta.url)('tokenizers');

export interface Cut {
  ids: number[];
  tokens: string[];
}

/**
 * Returns a function that cuts texts with Rust by a tokenizer.json, without truncation or padding; undefined
 * for a text that Rust refuses. Throws Error for a file that Rust refuses.
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
