// The tokenizer of any model, as its tokenizer.json defines it.
import { Tokenizer } from '@huggingface/tokenizers';

/**
 * A tokenizer from the contents of tokenizer.json and tokenizer_config.json. Throws Error if it cannot be
 * made.
 */
export function tokenizerOf(file: object, settings: object) {
  const tokenizer = new Tokenizer(file, settings);
  return {
    pieces: (ids: readonly number[]): string[] => ids.map((id) => tokenizer.id_to_token(id) ?? String(id)),
    cut(text: string): { ids: number[]; tokens: string[] } {
      const { ids, tokens } = tokenizer.encode(text);
      return { ids: ids.map(Number), tokens };
    },
  };
}
