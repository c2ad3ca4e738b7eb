// The rules by which Hugging Face's tokenizers treat characters. Their tables are older than a browser's.
// The lists are members of a class in a regular expression; a test compares every character with the
// tokenizers.

/**
 * Characters that are newer than Unicode 9, by which the tokenizers compute normal forms. To the tokenizers
 * these characters are neither marks nor punctuation nor control characters, and are their own normal forms.
 */
export const afterUnicode9 = String.raw`\u061d\u07fd\u0890-\u08d3\u08e2\u09fd\u09fe\u0a76\u0afa-\u0aff\u0b55\u0c04-\u0c3c\u0c77\u0c84\u0cf3-\u0d00\u0d3b\u0d3c\u0d81\u0eba\u0ece\u1715\u180f\u1abf-\u1aeb\u1b4e\u1b4f\u1b7d-\u1b7f\u1cf7\u1df6-\u1dfa\u2e43-\u2e5d\u32ff\ua7f1-\ua7f4\ua82c\ua8ff\uab69\u{105c9}-\u{107ba}\u{10d24}-\u{10f89}\u{11070}-\u{11074}\u{110c2}-\u{110cd}\u{11145}\u{11146}\u{111c9}\u{111ce}\u{111cf}\u{11241}\u{1133b}\u{11382}-\u{113e2}\u{1144b}-\u{1145e}\u{11660}-\u{1166c}\u{116b9}\u{1182c}-\u{11be1}\u{11c41}-\u{11c71}\u{11d31}-\u{11fff}\u{12ff1}-\u{1612f}\u{16d63}-\u{16f4f}\u{16f7f}-\u{16f87}\u{16fe2}-\u{16ff1}\u{1ccd6}-\u{1cf46}\u{1e030}-\u{1e6f5}\u{1e95e}\u{1e95f}\u{1f16c}\u{1fbf0}-\u{1fbf9}`;

/** Characters that are newer than Unicode 8, whose classes BERT's rules use. */
export const afterUnicode8 = String.raw`${afterUnicode9}\u08d4-\u08e1\u1885\u1886\u1dfb\ua8c5\ua9bd\u{1123e}\u{11438}-\u{1143f}\u{11442}-\u{11444}\u{11446}\u{11c30}-\u{11c3d}\u{11c3f}-\u{11ca7}\u{11caa}-\u{11cb0}\u{11cb2}\u{11cb3}\u{11cb5}\u{11cb6}\u{1e000}-\u{1e02a}\u{1e944}-\u{1e94a}`;

/** A punctuation mark, as a pattern. */
export const punctuation = String.raw`(?:[\u166d\u{111c9}]|(?![${afterUnicode8}])[\p{P}$+<=>^\x60|~])`;

const knownPart = new RegExp(`[^${afterUnicode9}]+`, 'gu');

/** A text in the normal form NFC, NFD, NFKC or NFKD of Unicode 9. */
export const normalForm = (text: string, form: string): string =>
  text.replace(knownPart, (part) => part.normalize(form));

/** A text in lower case, letter by letter: a capital sigma that ends a word becomes σ, not ς. */
export const lowercase = (text: string): string => text.replaceAll('Σ', 'σ').toLowerCase();
