// What the two figures must say, computed here in Node from the library alone and printed as the page
// prints. The module is the build that the browser takes, so that last digits agree too.
import {
  type DotProductName,
  type DotProducts,
  logitsOf,
  type MiniLM,
  type Scores,
  type Superpose,
  sharesOf,
  type Table,
  termOf,
} from 'superpose';
import { exponent, percent, readable, signed } from '../../../web/plot/format.ts';
import { rowCentred, softmaxRows, sumOf } from '../../api/support/numbers.ts';
import type { Figure1 } from './shown.ts';

/** The sentence that the page begins with. */
export const firstSentence = 'The river bank was closed, so she walked to the other bank.';
/** As many tokens as the page shows. */
export const mostTokens = 128;

export type Settings = Pick<Figure1, 'source' | 'encoding' | 'd' | 'scale' | 'n' | 'seed'>;

/** The dot products that figure 1 shows for these settings. */
export async function dotProductsFor(
  superpose: Superpose,
  settings: Settings,
  model?: MiniLM,
  text = firstSentence,
): Promise<DotProducts & { tokens: readonly string[] }> {
  const { source, encoding, d, scale, n, seed } = settings;
  const precision = 'float32';
  const drawn = { rows: n, columns: d, seed, precision } as const;
  const seededTokens = Array.from({ length: n }, (_, place) => `token ${place}`);
  const sentence = source === 'sentence' ? model?.tokenize(text, mostTokens) : undefined;
  const trained = sentence && (await model?.summands(sentence, precision));
  const positions: Record<string, () => Table<Float32Array> | undefined> = {
    interleaved: () => superpose.sinusoidal({ positions: n, d_model: d, precision }),
    concatenated: () =>
      superpose.sinusoidal({
        positions: n,
        d_model: d,
        layout: 'concatenated',
        spacing: 'timescales',
        precision,
      }),
    random: () => superpose.randomNormal({ ...drawn, stream: 1, standardDeviation: Math.SQRT1_2 }),
    learned: () => trained?.position,
  };
  return {
    tokens: sentence?.tokens ?? seededTokens,
    ...superpose.dotProducts({
      token: trained?.token ?? superpose.randomNormal({ ...drawn, stream: 0 }),
      position: positions[encoding]?.() as Table<Float32Array>,
      positionScale: scale,
    }),
  };
}

const names: Record<string, DotProductName> = {
  'token · token': 'tokenToken',
  'position · position': 'positionPosition',
  concatenated: 'concatenated',
  'token · position': 'tokenPosition',
  'position · token': 'positionToken',
  added: 'added',
};

/** Figure 1's numbers for one pair, by the names that readFigure1 gives them. */
export function printed1(found: Awaited<ReturnType<typeof dotProductsFor>>, [i, j]: readonly number[]) {
  const at = (name: DotProductName) =>
    found[name][(i as number) * found.tokens.length + (j as number)] as number;
  const moments = Object.fromEntries(
    Object.entries(names).map(([label, name]) => {
      const { mean, deviation } = found.moments[name];
      return [label, [readable(mean), readable(deviation)]];
    }),
  );
  return {
    tokens: [found.tokens[i as number], found.tokens[j as number]],
    places: [i, j],
    concatenated: readable(at('concatenated')),
    tokenPosition: signed(at('tokenPosition')),
    positionToken: signed(at('positionToken')),
    added: readable(at('added')),
    table: moments,
    beside: moments,
  };
}

/** The numbers that figure 1's sentence must quote, in its order. */
export function quoted1({
  tokens: { length: n },
  correlation,
  moments,
}: Awaited<ReturnType<typeof dotProductsFor>>) {
  return [
    String((n * (n - 1)) / 2),
    ...(Number.isNaN(correlation) ? [] : [correlation.toFixed(3).replace('-', '−')]),
    readable(moments.crossTerms.mean),
    readable(moments.crossTerms.deviation),
    readable(moments.concatenated.deviation),
  ];
}

/** Numbers in a sentence, as they are printed. */
export const numbersIn = (text: string): string[] =>
  text.match(/−?\d+(\.\d+)?(\u202f%| × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?/g) ?? [];

const parts = { token: 'token', position: 'position', segment: 'token_type', constant: 'constant' } as const;
type Part = keyof typeof parts;

/** The sixteen, by the names that the page gives them. */
export const sixteenTerms = (Object.keys(parts) as Part[]).flatMap((queryPart) =>
  (Object.keys(parts) as Part[]).map((keyPart) => `${queryPart} → ${keyPart}`),
);
export const fourTerms = sixteenTerms.filter((name) => !/segment|constant/.test(name));

export interface View {
  head: number;
  /** Query and key of the chosen cell. */
  cell: readonly [number, number];
  /** The sixteen terms rather than four and the rest. */
  all?: boolean;
  centred?: boolean;
  /** Terms switched off, by name. */
  off?: readonly string[];
}

/** One matrix, [n, n], for each map that figure 2 draws: terms by name, the score and the softmax. */
export function mapsFor(scores: Scores, { head, all = false, centred = false, off = [] }: View) {
  const { n } = scores;
  const term = (name: string) => {
    const [queryPart, keyPart] = name.split(' → ') as [Part, Part];
    return termOf(scores, head, parts[queryPart], parts[keyPart]);
  };
  const rest = sixteenTerms.filter((name) => !fourTerms.includes(name));
  const raw: [string, Float64Array][] = all
    ? sixteenTerms.map((name) => [name, Float64Array.from(term(name))])
    : [
        ...fourTerms.map((name): [string, Float64Array] => [name, Float64Array.from(term(name))]),
        ['the rest', sumOf(rest.map(term))],
      ];
  const kept = sumOf([
    new Float64Array(n * n),
    ...raw.filter(([name]) => !off.includes(name)).map(([, sum]) => sum),
  ]);
  const shown = (matrix: Float64Array) => (centred ? rowCentred(matrix, n) : matrix);
  return {
    terms: Object.fromEntries(raw.map(([name, matrix]) => [name, shown(matrix)])),
    score: shown(Float64Array.from(logitsOf(scores, head))),
    kept: shown(kept),
    softmax: softmaxRows(kept, n),
  };
}

/** Figure 2's numbers, by the names that readFigure2 gives them. */
export function printed2(scores: Scores & { sentence: { tokens: readonly string[] } }, view: View) {
  const {
    head,
    cell: [i, j],
    off = [],
  } = view;
  const { n, sentence } = scores;
  const maps = mapsFor(scores, view);
  const at = (matrix: Float64Array) => matrix[i * n + j] as number;
  const largest = Math.max(
    ...[...Object.values(maps.terms), maps.score].flatMap((map) => Array.from(map, Math.abs)),
  );
  return {
    head,
    tokens: sentence.tokens,
    query: [sentence.tokens[i], i],
    key: [sentence.tokens[j], j],
    terms: Object.fromEntries(Object.entries(maps.terms).map(([name, map]) => [name, signed(at(map))])),
    score: readable(at(maps.score)),
    kept: off.length > 0 ? readable(at(maps.kept)) : undefined,
    softmax: percent(at(maps.softmax)),
    residual: exponent(scores.residuals[scores.heads.indexOf(head)] as number),
    shares: printedShares(scores, view),
    legend: [`−${readable(largest)}`, `+${readable(largest)}`],
  };
}

function printedShares(scores: Scores, { head, all = false }: View): Record<string, string> {
  const shares = [...sharesOf(scores, head)];
  const named = new Map(sixteenTerms.map((name, term) => [name, shares[term] as number]));
  if (!all) {
    const rest = sixteenTerms.filter((name) => !fourTerms.includes(name));
    named.set(
      'the rest',
      rest.reduce((sum, name) => sum + (named.get(name) as number), 0),
    );
    for (const name of rest) named.delete(name);
  }
  return Object.fromEntries([...named].map(([name, share]) => [name, percent(share)]));
}
