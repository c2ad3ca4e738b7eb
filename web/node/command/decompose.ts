// superpose decompose: the scores of a layer of MiniLM, and the terms that they are the sum of.

import { load, loadMiniLM, logitsOf, type MiniLM, type Sentence, sharesOf, termOf } from 'superpose';
import { groups } from '../../figures/terms.js';
import { csvOf } from '../index.js';
import { parsed, Refusal, withWeights } from './refusal.js';

export async function decompose(args: string[]): Promise<string> {
  const { values } = parsed({
    args,
    options: {
      text: { type: 'string' },
      head: { type: 'string' },
      layer: { type: 'string' },
      way: { type: 'string' },
      gauge: { type: 'string', default: 'canonical' },
      csv: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { text, head, layer, way, gauge, csv, json } = values;
  if (!text?.trim()) throw new Refusal('Say what to take apart: --text "The cat sat on the mat."');
  if (csv && json) throw new Refusal('Choose one of --csv and --json.');
  if (head !== undefined && !/^(\d|1[01])$/.test(head)) {
    throw new Refusal(`--head takes a number from 0 to 11, and got “${head.slice(0, 40)}”.`);
  }
  if (layer !== undefined && !/^[0-5]$/.test(layer)) {
    throw new Refusal(`--layer takes a number from 0 to 5, and got “${layer.slice(0, 40)}”.`);
  }
  if (way !== undefined && way !== 'direct' && way !== 'streams' && way !== 'mean') {
    throw new Refusal(`--way takes direct, streams or mean, and got “${way.slice(0, 40)}”.`);
  }
  if (gauge !== 'canonical' && gauge !== 'raw') {
    throw new Refusal(`--gauge takes canonical or raw, and got “${gauge.slice(0, 40)}”.`);
  }
  const only = head === undefined ? undefined : [Number(head)];
  const scores = await withWeights(async () => {
    const model = await loadMiniLM(await load());
    const sentence = cutUp(model, text);
    const common = { gauge, ...(only && { only }) } as const;
    if (layer === undefined && way === undefined) return model.decompose(sentence, { ...common, groups });
    const behind = { ...common, layer: Number(layer ?? 0) };
    if (way !== 'mean') return model.decompose(sentence, { ...behind, way: way ?? 'direct' });
    const most = 31;
    if (sentence.ids.length > most) {
      throw new Refusal(
        `--way mean takes at most ${most} tokens, for as many positions have a mean, and got ${sentence.ids.length}.`,
      );
    }
    return model.decompose(sentence, { ...behind, way, means: await model.corpusMeans() });
  });
  const { tokens, dropped } = scores.sentence;
  const which = {
    ...(layer !== undefined && { layer: Number(layer) }),
    ...(way !== undefined && { way }),
  };
  const names = scores.parts.flatMap((query) => scores.parts.map((key) => `${query} → ${key}`));
  const cut =
    dropped > 0
      ? `The model takes ${tokens.length} tokens; ${dropped} more of this text are left out.\n`
      : '';
  // A table of nothing but numbers has no place for it.
  if (csv) process.stderr.write(cut);

  if (only) {
    const [one = 0] = only;
    const terms = scores.parts.flatMap((query) => scores.parts.map((key) => termOf(scores, one, query, key)));
    const logits = logitsOf(scores, one);
    const columns = ['query', 'key', 'query token', 'key token', ...names, 'score'];
    const rows = Array.from(logits, (score, cell) => {
      const [i, j] = [Math.floor(cell / scores.n), cell % scores.n];
      const at = [tokens[i] as string, tokens[j] as string];
      return [i, j, ...at, ...terms.map((term) => term[cell] as number), score];
    });
    return printed({ tokens, dropped, gauge, ...which, head: one, columns, rows }, { csv, json, cut });
  }
  const columns = ['head', ...names, 'residual'];
  const rows = scores.heads.map((one, place) => [
    one,
    ...sharesOf(scores, one),
    scores.residuals[place] as number,
  ]);
  return printed({ tokens, dropped, gauge, ...which, columns, rows }, { csv, json, cut });
}

function cutUp(model: MiniLM, text: string): Sentence {
  try {
    return model.tokenize(text);
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(error.message);
    throw error;
  }
}

interface Answer {
  tokens: readonly string[];
  dropped: number;
  gauge: string;
  layer?: number;
  way?: string;
  head?: number;
  columns: string[];
  rows: (string | number)[][];
}

function printed(found: Answer, { csv, json, cut }: { csv: boolean; json: boolean; cut: string }): string {
  const { columns, rows, tokens, head, layer, gauge } = found;
  const where = layer === undefined ? '' : `, layer ${layer}`;
  if (json) return `${JSON.stringify(found, null, 1)}\n`;
  if (csv) return csvOf({ columns: [...columns, 'gauge'], rows: rows.map((row) => [...row, gauge]) });
  const shown = rows.map((row) =>
    row.map((value, column) => {
      if (typeof value === 'string' || Number.isInteger(value)) return String(value);
      if (Number.isNaN(value)) return '–';
      if (columns[column] === 'residual') return value.toExponential(1);
      return head === undefined ? `${(100 * value).toFixed(1)} %` : value.toFixed(3);
    }),
  );
  const widths = columns.map((name, column) =>
    Math.max(name.length, ...shown.map((row) => (row[column] as string).length)),
  );
  const line = (row: string[]) =>
    `${row.map((text, column) => text.padStart(widths[column] as number)).join('  ')}\n`;
  const what =
    head === undefined
      ? `Shares of what each head’s scores vary by over keys${where}, ${gauge} gauge, query part → key part:\n`
      : `Scores of head ${head}${where}, and the terms that they are the sum of, ${gauge} gauge, query part → key part:\n`;
  return `${cut}${tokens.join(' ')}\n${what}${line(columns)}${shown.map(line).join('')}`;
}
