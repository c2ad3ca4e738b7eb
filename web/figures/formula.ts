// The registry's formulas, which are TeX, as pieces that a picture can set: letters in italics, indices below
// and above the line. It knows the few commands that they use.
import { plainCopy } from '../plot/plainCopy.js';
import type { Run } from '../plot/scene.js';

const signs: Record<string, string> = {
  rho: 'ρ',
  theta: 'θ',
  delta: 'δ',
  top: '⊤',
  ';': '',
};

/** One letter, one command with its group, one group, or one other character. */
const atom = /\\(?:mathrm|text|sqrt)\{(?:[^{}]|\{[^{}]*\})*\}|\\[a-z]+|\\;|\{(?:[^{}]|\{[^{}]*\})*\}|./gu;

function runsOf(tex: string, shift?: Run['shift'], upright = false): Run[] {
  const runs: Run[] = [];
  const add = (text: string, italic = false) =>
    runs.push(plainCopy({ text, ...(shift && { shift }), ...(italic && { italic: true as const }) }));
  const atoms = tex.match(atom) ?? [];
  let depth = 0;
  let bars = 0;
  for (let at = 0; at < atoms.length; at++) {
    const one = atoms[at] as string;
    const inside = one.replace(/^\\?[a-z]*\{([\s\S]*)\}$/, '$1');
    if (one === '_' || one === '^') {
      at += 1;
      // What is above or below an index stays where the index is.
      runs.push(
        ...runsOf((atoms[at] ?? '').replace(/^\{(.*)\}$/, '$1'), shift ?? (one === '_' ? 'sub' : 'sup')),
      );
    } else if (one.startsWith('\\mathrm') || one.startsWith('\\text')) {
      runs.push(...runsOf(inside, shift, true));
    } else if (one.startsWith('\\sqrt')) {
      const under = runsOf(inside, shift);
      // A root of one letter with its index needs no brackets.
      const bare = /^[a-z](_.|_\{[^{}]*\})?$/.test(inside);
      add(bare ? '√' : '√(');
      runs.push(...under);
      if (!bare) add(')');
    } else if (one.startsWith('\\')) add(signs[one.slice(1)] ?? one.slice(1), /rho|theta|delta/.test(one));
    else if (one.startsWith('{')) runs.push(...runsOf(inside, shift, upright));
    else if (/[a-z]/i.test(one)) add(one, !upright);
    else if (one === ' ' && !upright) continue;
    else {
      if (one === '|') bars += 1;
      if ('[('.includes(one)) depth += 1;
      if ('])'.includes(one)) depth -= 1;
      const spaced = one === '+' || (one === '-' && depth === 0 && bars % 2 === 0);
      const sign = one === '-' ? '−' : one;
      add(spaced && !shift ? ` ${sign} ` : /[,;]/.test(one) && !shift ? `${one} ` : sign);
    }
  }
  return runs;
}

const small: Record<NonNullable<Run['shift']>, Record<string, string>> = {
  sub: { i: 'ᵢ', j: 'ⱼ', h: 'ₕ', r: 'ᵣ', p: 'ₚ', k: 'ₖ', '1': '₁', '2': '₂' },
  sup: { '⊤': 'ᵀ', '2': '²', r: 'ʳ', K: 'ᴷ' },
};

/** The same as plain text, with the small letters that there are. */
const textOf = (runs: readonly Run[]): string =>
  runs.map(({ text, shift }) => (shift && small[shift][text]) ?? text).join('');

/** A formula in lines of about so many letters at most, broken after signs between terms and after commas. */
export function formulaLines(tex: string, most: number): { text: string; runs: Run[] }[] {
  const lines: Run[][] = [[]];
  let term: Run[] = [];
  const close = () => {
    const line = lines[lines.length - 1] as Run[];
    if (line.length > 0 && textOf([...line, ...term]).length > most) lines.push(term);
    else line.push(...term);
    term = [];
  };
  for (const run of runsOf(tex)) {
    term.push(run);
    if (/^( [+−] |, )$/.test(run.text)) close();
  }
  close();
  return lines.map((runs) => ({ text: textOf(runs), runs }));
}
