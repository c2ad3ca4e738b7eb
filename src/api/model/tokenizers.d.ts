// What wordPieces.ts uses of a package whose own types name files as only bundlers find them.
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
