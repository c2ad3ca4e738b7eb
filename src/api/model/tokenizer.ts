// The tokenizer of any model, as its tokenizer.json defines it. MiniLM's has fewer parts: see wordPieces.ts.
import { Tokenizer } from '@huggingface/tokenizers';

/**
 * Cuts texts into pieces; `file` and `settings` are the contents of tokenizer.json and tokenizer_config.json.
 */
export function tokenizerOf(file: object, settings: object) {
  const tokenizer = new Tokenizer(file, settings);
  return {
    cut(text: string): { ids: number[]; tokens: string[] } {
      const { ids, tokens } = tokenizer.encode(text);
      return { ids: ids.map(Number), tokens };
    },
  };
}
