// Sets the registry's formulas, which are TeX, as spans of a picture's text: letters in italics, indices
// below and above the line. Only the commands that these formulas use are known.
import { plainCopy } from '../plot/plainCopy.js';
import type { Span } from '../plot/scene.js';

const signs: Record<string, string> = {
  rho: 'ρ',
  theta: 'θ',
  delta: 'δ',
  top: '⊤',
  ';': '',
};

/** A command with its group, a group, or one character. */
const piecePattern =
  /\\(?:mathrm|text|sqrt)\{(?:[^{}]|\{[^{}]*\})*\}|\\[a-z]+|\\;|\{(?:[^{}]|\{[^{}]*\})*\}|./gu;

function spansOf(tex: string, shift?: Span['shift'], upright = false): Span[] {
  const spans: Span[] = [];
  const add = (text: string, italic = false) =>
    spans.push(plainCopy({ text, ...(shift && { shift }), ...(italic && { italic: true as const }) }));
  const pieces = tex.match(piecePattern) ?? [];
  let openBrackets = 0;
  let bars = 0;
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at] as string;
    const inside = piece.replace(/^\\?[a-z]*\{([\s\S]*)\}$/, '$1');
    if (piece === '_' || piece === '^') {
      at += 1;
      // An index of an index stays on the line of the first.
      const index = (pieces[at] ?? '').replace(/^\{(.*)\}$/, '$1');
      spans.push(...spansOf(index, shift ?? (piece === '_' ? 'sub' : 'sup')));
    } else if (piece.startsWith('\\mathrm') || piece.startsWith('\\text')) {
      spans.push(...spansOf(inside, shift, true));
    } else if (piece.startsWith('\\sqrt')) {
      const under = spansOf(inside, shift);
      // A root of one letter with its index needs no brackets.
      const bare = /^[a-z](_.|_\{[^{}]*\})?$/.test(inside);
      add(bare ? '√' : '√(');
      spans.push(...under);
      if (!bare) add(')');
    } else if (piece.startsWith('\\')) {
      add(signs[piece.slice(1)] ?? piece.slice(1), /rho|theta|delta/.test(piece));
    } else if (piece.startsWith('{')) {
      spans.push(...spansOf(inside, shift, upright));
    } else if (/[a-z]/i.test(piece)) {
      add(piece, !upright);
    } else if (piece !== ' ' || upright) {
      if (piece === '|') bars += 1;
      if ('[('.includes(piece)) openBrackets += 1;
      if ('])'.includes(piece)) openBrackets -= 1;
      const betweenTerms = piece === '+' || (piece === '-' && openBrackets === 0 && bars % 2 === 0);
      const sign = piece === '-' ? '−' : piece;
      if (shift) add(sign);
      else if (betweenTerms) add(` ${sign} `);
      else if (/[,;]/.test(piece)) add(`${piece} `);
      else add(sign);
    }
  }
  return spans;
}

const smallLetters: Record<NonNullable<Span['shift']>, Record<string, string>> = {
  sub: { i: 'ᵢ', j: 'ⱼ', h: 'ₕ', r: 'ᵣ', p: 'ₚ', k: 'ₖ', '1': '₁', '2': '₂' },
  sup: { '⊤': 'ᵀ', '2': '²', r: 'ʳ', K: 'ᴷ' },
};

/** The formula as plain text, with the small letters that Unicode has. */
const textOf = (spans: readonly Span[]): string =>
  spans.map(({ text, shift }) => (shift && smallLetters[shift][text]) ?? text).join('');

/** A formula in lines of about `most` letters, broken after signs between terms and after commas. */
export function formulaLines(tex: string, most: number): { text: string; spans: Span[] }[] {
  const lines: Span[][] = [[]];
  let term: Span[] = [];
  const close = () => {
    const line = lines[lines.length - 1] as Span[];
    if (line.length > 0 && textOf([...line, ...term]).length > most) lines.push(term);
    else line.push(...term);
    term = [];
  };
  for (const span of spansOf(tex)) {
    term.push(span);
    if (/^( [+−] |, )$/.test(span.text)) close();
  }
  close();
  return lines.map((spans) => ({ text: textOf(spans), spans }));
}
