// The part of this package that wordPieces.ts uses: its own types import files in a way that only bundlers
// resolve.
import '@huggingface/tokenizers';

declare module '@huggingface/tokenizers' {
  export class BertNormalizer {
    constructor(config: object);
    normalize(text: string): string;
  }
  export class BertPreTokenizer {
    pre_tokenize_text(text: string): string[];
  }
  export class WordPiece {
    constructor(config: object);
    encode(words: string[]): string[];
  }
}
