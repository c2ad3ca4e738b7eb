// Writes a study in rows, as a text to read, as CSV or as JSON. A row is a head, or with --head a pair of
// tokens.
import { logitsOf, type Scores, sharesOf, termOf } from 'add-or-concatenate';
import { csvOf } from '../../plot/csv.js';
import type { Piece, Study, StudySentence } from './study.js';
import { inLine } from './terminal.js';

type Pieces = AsyncIterable<Piece>;
type Row = (string | number)[];
type Table = { columns: string[]; rows: Row[] };

/** The columns that say where a row belongs. */
const placeColumns = ['sentence', 'layer', 'head'];

/** The pairs of parts that have a term: by mechanism, most pairs have none. */
function termsOf({ parts }: Pick<Scores, 'parts'>, { way }: Study) {
  // `offset` has no terms with other parts, and positions have none with the constant.
  const isAlone = (part: string) => part === 'offset';
  const isNone = (query: string, key: string) =>
    isAlone(query) || isAlone(key)
      ? query !== key
      : query !== key && ['constant', 'position'].every((part) => [query, key].includes(part));
  return parts
    .flatMap((query) => parts.map((key) => ({ query, key, name: `${query} → ${key}` })))
    .map((pair, term) => ({ ...pair, term }))
    .filter(({ query, key }) => way !== 'mechanism' || !isNone(query, key));
}

function columnsOf(scores: Pick<Scores, 'parts'>, study: Study): string[] {
  const names = termsOf(scores, study).map(({ name }) => name);
  return study.hasTerms
    ? [...placeColumns, 'query', 'key', 'query token', 'key token', ...names, 'score']
    : [...placeColumns, ...names, 'residual'];
}

/** The rows of one sentence in one layer. */
function rowsOf({ sentence, layer, scores }: Piece, study: Study): Row[] {
  const { tokens } = study.sentences[sentence] as StudySentence;
  const pairs = termsOf(scores, study);
  return scores.heads.flatMap((head, place): Row[] => {
    const begin = [sentence, layer, head];
    if (!study.hasTerms) {
      const shares = sharesOf(scores, head);
      return [
        [...begin, ...pairs.map(({ term }) => shares[term] as number), scores.residuals[place] as number],
      ];
    }
    const terms = pairs.map(({ query, key }) => termOf(scores, head, query, key));
    return Array.from(logitsOf(scores, head), (score, cell) => {
      const [i, j] = [Math.floor(cell / scores.n), cell % scores.n];
      const named = [i, j, tokens[i] as string, tokens[j] as string];
      return [...begin, ...named, ...terms.map((term) => term[cell] as number), score];
    });
  });
}

/** The long form: every row with its sentence, layer, head and gauge. */
export async function* csvStudy(study: Study, pieces: Pieces): AsyncGenerator<string> {
  let isFirst = true;
  for await (const piece of pieces) {
    const columns = [...columnsOf(piece.scores, study), 'gauge'];
    const rows = rowsOf(piece, study).map((row) => [...row, study.gauge]);
    const lines = csvOf({ columns, rows });
    yield isFirst ? lines : lines.slice(lines.indexOf('\n') + 1);
    isFirst = false;
  }
}

/** What a study is, for programs. */
export function headerOf(
  { model, way, gauge, layers, sentences }: Study,
  { parts, heads, causal = false }: Pick<Scores, 'parts' | 'heads' | 'causal'>,
) {
  return { model, ...(way && { way }), gauge, causal, parts, layers, heads, sentences };
}

/** One object with the rows of the long form, a line each. */
export async function* jsonStudy(study: Study, pieces: Pieces): AsyncGenerator<string> {
  let isFirst = true;
  for await (const piece of pieces) {
    const rows = rowsOf(piece, study).map((row) => `  ${JSON.stringify(row)}`);
    if (isFirst) {
      const header = { ...headerOf(study, piece.scores), columns: columnsOf(piece.scores, study) };
      yield `${JSON.stringify(header, null, 1).slice(0, -2)},\n "rows": [\n`;
    }
    yield `${isFirst ? '' : ',\n'}${rows.join(',\n')}`;
    isFirst = false;
  }
  yield '\n ]\n}\n';
}

/** A table to read for each sentence and layer, and with --head for each head. */
export async function* textStudy(study: Study, pieces: Pieces): AsyncGenerator<string> {
  let last = -1;
  for await (const piece of pieces) {
    const { sentence: place, scores } = piece;
    const sentence = study.sentences[place] as StudySentence;
    if (place !== last) {
      const name = study.sentences.length > 1 ? `Sentence ${place}: ` : '';
      const cut = truncation(sentence);
      yield `${place > 0 ? '\n' : ''}${cut && `${cut}\n`}${name}${sentence.tokens.map(inLine).join(' ')}\n`;
    }
    last = place;
    const columns = columnsOf(scores, study);
    const rows = rowsOf(piece, study);
    const where = `layer ${piece.layer} of ${study.model}, ${study.gauge} gauge, query part → key part:\n`;
    if (!study.hasTerms) {
      const { excludedRows } = sentence;
      const names = `row${excludedRows.length > 1 ? 's' : ''} ${excludedRows.join(', ')}`;
      yield `Shares of what each head’s scores vary by over keys${excludedRows.length > 0 ? ` without ${names}` : ''}, ${where}`;
      yield printed(without({ columns, rows }, 2), (share) => `${(100 * share).toFixed(1)} %`);
      continue;
    }
    for (const head of scores.heads) {
      yield `Scores of head ${head}, and the terms that they are the sum of, ${where}`;
      const ofHead = rows.filter((row) => row[2] === head);
      yield printed(without({ columns, rows: ofHead }, 3), (term) => term.toFixed(3));
    }
  }
}

/** A table without its first columns. */
const without = ({ columns, rows }: Table, count: number): Table => ({
  columns: columns.slice(count),
  rows: rows.map((row) => row.slice(count)),
});

function printed({ columns, rows }: Table, written: (value: number) => string): string {
  const shown = rows.map((row) =>
    row.map((value, column) => {
      if (typeof value === 'string') return inLine(value);
      if (Number.isInteger(value)) return String(value);
      if (Number.isNaN(value)) return '–';
      return columns[column] === 'residual' ? value.toExponential(1) : written(value);
    }),
  );
  const widths = columns.map((name, column) =>
    Math.max(name.length, ...shown.map((row) => (row[column] as string).length)),
  );
  return [columns, ...shown]
    .map((row) => `${row.map((text, column) => text.padStart(widths[column] as number)).join('  ')}\n`)
    .join('');
}

/** The sentence about a text that was too long. */
export const truncation = ({ tokens, dropped }: StudySentence): string =>
  dropped > 0 ? `The model takes ${tokens.length} tokens; ${dropped} more of this text are left out.` : '';
