// The registry's formulas, which are TeX, as pieces that a picture can set: letters in italics, indices below
// and above the line. It knows the few commands that they use.
import { plainCopy } from '../plot/plainCopy.js';
import type { Span } from '../plot/scene.js';

const signs: Record<string, string> = {
  rho: 'ρ',
  theta: 'θ',
  delta: 'δ',
  top: '⊤',
  ';': '',
};

/** One letter, one command with its group, one group, or one other character. */
const atom = /\\(?:mathrm|text|sqrt)\{(?:[^{}]|\{[^{}]*\})*\}|\\[a-z]+|\\;|\{(?:[^{}]|\{[^{}]*\})*\}|./gu;

function spansOf(tex: string, shift?: Span['shift'], upright = false): Span[] {
  const spans: Span[] = [];
  const add = (text: string, italic = false) =>
    spans.push(plainCopy({ text, ...(shift && { shift }), ...(italic && { italic: true as const }) }));
  const atoms = tex.match(atom) ?? [];
  let depth = 0;
  let bars = 0;
  for (let at = 0; at < atoms.length; at++) {
    const piece = atoms[at] as string;
    const inside = piece.replace(/^\\?[a-z]*\{([\s\S]*)\}$/, '$1');
    if (piece === '_' || piece === '^') {
      at += 1;
      // What is above or below an index stays where the index is.
      spans.push(
        ...spansOf((atoms[at] ?? '').replace(/^\{(.*)\}$/, '$1'), shift ?? (piece === '_' ? 'sub' : 'sup')),
      );
    } else if (piece.startsWith('\\mathrm') || piece.startsWith('\\text')) {
      spans.push(...spansOf(inside, shift, true));
    } else if (piece.startsWith('\\sqrt')) {
      const under = spansOf(inside, shift);
      // A root of one letter with its index needs no brackets.
      const bare = /^[a-z](_.|_\{[^{}]*\})?$/.test(inside);
      add(bare ? '√' : '√(');
      spans.push(...under);
      if (!bare) add(')');
    } else if (piece.startsWith('\\'))
      add(signs[piece.slice(1)] ?? piece.slice(1), /rho|theta|delta/.test(piece));
    else if (piece.startsWith('{')) spans.push(...spansOf(inside, shift, upright));
    else if (/[a-z]/i.test(piece)) add(piece, !upright);
    else if (piece === ' ' && !upright) continue;
    else {
      if (piece === '|') bars += 1;
      if ('[('.includes(piece)) depth += 1;
      if ('])'.includes(piece)) depth -= 1;
      const spaced = piece === '+' || (piece === '-' && depth === 0 && bars % 2 === 0);
      const sign = piece === '-' ? '−' : piece;
      add(spaced && !shift ? ` ${sign} ` : /[,;]/.test(piece) && !shift ? `${piece} ` : sign);
    }
  }
  return spans;
}

const small: Record<NonNullable<Span['shift']>, Record<string, string>> = {
  sub: { i: 'ᵢ', j: 'ⱼ', h: 'ₕ', r: 'ᵣ', p: 'ₚ', k: 'ₖ', '1': '₁', '2': '₂' },
  sup: { '⊤': 'ᵀ', '2': '²', r: 'ʳ', K: 'ᴷ' },
};

/** The same as plain text, with the small letters that there are. */
const textOf = (spans: readonly Span[]): string =>
  spans.map(({ text, shift }) => (shift && small[shift][text]) ?? text).join('');

/** A formula in lines of about so many letters at most, broken after signs between terms and after commas. */
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
