// The tokenizer of any model, as its tokenizer.json has it. MiniLM's is put together of fewer parts: wordPieces.ts.
import { Tokenizer } from '@huggingface/tokenizers';

/** Cuts texts into pieces; `file` is what tokenizer.json holds, `settings` what tokenizer_config.json does. */
export function tokenizerOf(file: object, settings: object) {
  const tokenizer = new Tokenizer(file, settings);
  return {
    cut(text: string): { ids: number[]; tokens: string[] } {
      const { ids, tokens } = tokenizer.encode(text);
      return { ids: ids.map(Number), tokens };
    },
  };
}
