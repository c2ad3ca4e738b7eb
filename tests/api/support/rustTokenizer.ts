// Hugging Face's own tokenizers, in Rust, as the oracle for ours.
import { createRequire } from 'node:module';
import type * as Rust from 'tokenizers';
import { expect } from 'vitest';
import { tokenizerOf } from '../../../build/package/model/tokenizer/tokenizer.js';
import { type Parts, tokenizerFile } from './tokenizerFiles.ts';

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

/** The result of cutting a text; undefined if the text is refused. */
function unlessRefused<T>(cut: () => T): T | undefined {
  try {
    return cut();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Expects our ids and tokens of texts to be those of Rust, and a RangeError for a text that Rust refuses.
 */
export async function expectSameTokens(parts: Parts, texts: readonly string[]): Promise<void> {
  const file = JSON.stringify(tokenizerFile(parts));
  const [ours, rust] = [tokenizerOf(JSON.parse(file)), rustTokenizer(file)];
  const expected = await rust(texts);
  for (const [at, text] of texts.entries()) {
    const cut = unlessRefused(() => ours.cut(text));
    expect(cut, `${JSON.stringify(text)} with ${file}`).toEqual(expected[at]);
  }
}
