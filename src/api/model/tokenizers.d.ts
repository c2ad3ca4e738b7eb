// What wordPieces.ts uses of this package, whose own types import files in a way only bundlers resolve.
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
