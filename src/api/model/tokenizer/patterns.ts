// Patterns of tokenizer.json: strings, and regular expressions in Oniguruma's syntax, which are rewritten for
// JavaScript. Those that could match something else there are refused.
import { member, optional, type Part, refuseFile } from './parts.js';

/** A part of a text, and whether a pattern matches it; all parts together are the text. */
export type Span = readonly [text: string, isMatch: boolean];

/** Divides a text into what a pattern matches and what is between the matches. */
export type Pattern = (text: string) => Span[];

/** Characters that are new in Unicode 17, which Oniguruma does not know yet, as members of a class. */
const afterUnicode16 = String.raw`\u088f\u0c5c\u0cdc\u1acf-\u1aeb\u20c1\u2b96\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1\ufbc3-\ufbd2\ufd90\ufd91\ufdc8-\ufdce\u{10940}-\u{10959}\u{10ec5}-\u{10efb}\u{11b60}-\u{11b67}\u{11db0}-\u{11de9}\u{16ea0}-\u{16ed3}\u{16ff2}-\u{16ff6}\u{187f8}-\u{187ff}\u{18d09}-\u{18df2}\u{1ccfa}-\u{1ccfc}\u{1ceba}-\u{1cef0}\u{1e6c0}-\u{1e6ff}\u{1f6d8}\u{1f777}-\u{1f77a}\u{1f8d0}-\u{1f8d8}\u{1fa54}-\u{1fa57}\u{1fa8a}-\u{1fa8e}\u{1fac8}-\u{1facd}\u{1faea}-\u{1faef}\u{1fbfa}\u{2b73a}-\u{2b73f}\u{2cea2}-\u{2cead}\u{323b0}-\u{33479}`;
const later = new RegExp(`[${afterUnicode16}]`, 'gu');

/**
 * Replaces characters that Oniguruma does not know by others of the same length, which belong to no class.
 */
export const withoutLater = (text: string): string =>
  text.replace(later, ({ length }) => (length === 1 ? '\uffff' : '\u{1ffff}'));

/** The pattern of a regular expression. If the expression names classes, they are those of Unicode 16. */
export function pattern(expression: RegExp, hasClasses = true): Pattern {
  return (text) => {
    const spans: Span[] = [];
    let end = 0;
    for (const match of (hasClasses ? withoutLater(text) : text).matchAll(expression)) {
      const [{ length }, start] = [match[0], match.index];
      // As in Oniguruma, there is no empty match directly after another match.
      if (length === 0 && start === end && spans.at(-1)?.[1]) continue;
      if (start > end) spans.push([text.slice(end, start), false]);
      end = start + length;
      spans.push([text.slice(start, end), true]);
    }
    if (end < text.length) spans.push([text.slice(end), false]);
    return spans;
  };
}

/** Writes characters so that they stand for themselves. */
export const literal = (text: string): string => text.replace(/[\^$\\.*+?()[\]{}|/]/g, '\\$&');

/**
 * Groups, quantifiers, classes, escapes and characters, each only if it means the same in both languages.
 */
const syntax =
  /(?<anyCase>\(\?i:['a-zA-Z|]+\))|(?<unchanged>\((?!\?)|\(\?(?::|<?[=!])|[)|]|(?:[*+?]\??|\{\d+(?:,\d*)?\})(?![*+?{]))|(?<class>\[\^?(?![\]&])(?:\\.|[^\\[\]&]|&(?!&)|(?<!-)\[(?![\]^:&])(?:\\.|[^\\[\]&]|&(?!&))+\](?!-))+\])|(?<escape>\\(?:[pP]\{\w+\}|.))|(?<character>[^()[\]{}*+?^])|(?<other>.)/gsu;

/** A member of a class: a class inside it, a range, or a single character or escaped class. */
const classMember = /\[((?:\\.|[^\\\]])+)\]|(\\(?:[pP]\{\w+\}|.)|.)(?:-(\\(?:[pP]\{\w+\}|.)|[^[\]]))?/gsu;

/** Unicode's categories, and scripts, which JavaScript knows only as Script=…. */
const propertyName =
  /^(?:[LMNPSZ][a-z]?|(?<script>Arabic|Cyrillic|Devanagari|Greek|Han|Hangul|Hebrew|Hiragana|Katakana|Latin|Thai))$/;

/** An escaped class or character of Oniguruma; undefined for those that mean something else in JavaScript. */
function writtenEscape(text: string): string | undefined {
  const [, letter, name = ''] = /^\\([pP])\{(\w+)\}$/.exec(text) ?? [];
  if (letter) {
    const match = propertyName.exec(name);
    return match ? `\\${letter}{${match.groups?.script ? 'Script=' : ''}${name}}` : undefined;
  }
  const classes: Record<string, string> = {
    s: '\\p{White_Space}',
    S: '\\P{White_Space}',
    d: '\\p{Nd}',
    D: '\\P{Nd}',
  };
  const escaped = text.slice(1);
  if (/[nrt]/.test(escaped)) return text;
  return classes[escaped] ?? (/[^\w\s]/.test(escaped) ? literal(escaped) : undefined);
}

/** A class of a letter in both cases. Two letters have a third form. */
const eitherCase = (letter: string): string => {
  const [small, capital] = [letter.toLowerCase(), letter.toUpperCase()];
  return `[${small}${capital}${{ s: 'ſ', k: '\u212a' }[small] ?? ''}]`;
};

/** The pattern of an expression of Oniguruma. Throws RangeError where it could match something else here. */
function onigurumaPattern(source: string): Pattern {
  const refuse = (what: string) => refuseFile(`“${what}” in the pattern “${source}”`);
  const [laterCharacter] = source.match(later) ?? [];
  if (laterCharacter) refuse(laterCharacter);
  const translated = (text: string) => writtenEscape(text) ?? refuse(text);
  const hasClasses = /\\[pPdD]/.test(source);
  const memberOf = (text: string) => {
    if (text === '-' || text === '\\-') return '\\-';
    return text.length > 1 && text.startsWith('\\') ? translated(text) : literal(text);
  };
  const membersOf = (text: string): string =>
    text.replace(classMember, (range, inner, from, to) => {
      // A class inside a class adds its members to the outer one.
      if (inner) return membersOf(inner);
      if (to === undefined) return memberOf(from);
      const written = `${memberOf(from)}-${memberOf(to)}`;
      // Characters that withoutLater() hides from classes would be missing in a range.
      if (/\\[pP]/.test(written) || (hasClasses && to > '\u087e')) refuse(range);
      return written;
    });
  const expression = source.replace(syntax, (...match) => {
    const [offset, , { anyCase, unchanged, class: ofClass, escape: escaped, character }] = match.slice(-3);
    if (anyCase) {
      if (/ss|ff|fi|fl|st/i.test(anyCase)) refuse(anyCase);
      return `(?:${anyCase.slice(4, -1).replace(/[a-z]/gi, eitherCase)})`;
    }
    if (unchanged) return unchanged;
    if (ofClass) return ofClass.replace(/(?<=^\[\^?)[^^].*(?=\]$)/su, membersOf);
    if (escaped) return translated(escaped);
    if (character === '.') return '[^\\n]';
    if (character === '$') return '(?![^\\n])';
    return character ? literal(character) : refuse(source.slice(offset));
  });
  return pattern(new RegExp(expression, 'gu'), hasClasses);
}

/** The member `pattern` of a part: { String } or { Regex }. */
export function patternOf(part: Part): Pattern {
  const described = member(part, 'pattern', 'object');
  const text = optional(described, 'String', 'string');
  if (text === undefined) return onigurumaPattern(member(described, 'Regex', 'string'));
  if (text === '') refuseFile('an empty pattern');
  return pattern(new RegExp(literal(text), 'gu'), false);
}
