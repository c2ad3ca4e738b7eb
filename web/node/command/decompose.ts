// superpose decompose: the scores of a layer of MiniLM or of the user's own model, and the terms of each.

import {
  load,
  loadMiniLM,
  logitsOf,
  type MiniLM,
  type Scores,
  type Sentence,
  sharesOf,
  termOf,
  type Way,
} from 'superpose';
import { groups } from '../../figures/terms.js';
import { csvOf } from '../index.js';
import { opened, openOptions } from './model.js';
import { parsed, Refusal, told, withWeights } from './refusal.js';

export async function decompose(args: string[]): Promise<string> {
  const { values } = parsed({
    args,
    options: {
      text: { type: 'string' },
      ids: { type: 'string' },
      model: { type: 'string' },
      ...openOptions,
      head: { type: 'string' },
      layer: { type: 'string' },
      way: { type: 'string' },
      gauge: { type: 'string', default: 'canonical' },
      csv: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { text, head, layer, way, gauge, csv, json } = values;
  if (csv && json) throw new Refusal('Choose one of --csv and --json.');
  if (gauge !== 'canonical' && gauge !== 'raw') {
    throw new Refusal(`--gauge takes canonical or raw, and got “${gauge.slice(0, 40)}”.`);
  }
  if (way !== undefined && way !== 'direct' && way !== 'streams' && way !== 'mean') {
    throw new Refusal(`--way takes direct, streams or mean, and got “${way.slice(0, 40)}”.`);
  }
  if (values.model !== undefined) return ofOwnModel(values.model, { ...values, gauge, way });
  const own = ['ids', 'part', 'heads', 'epsilon'].find((name) => name in values);
  if (own) throw new Refusal(`--${own} is for a model of your own: --model PATH.`);
  if (!text?.trim()) throw new Refusal('Say what to take apart: --text "The cat sat on the mat."');
  if (head !== undefined && !/^(\d|1[01])$/.test(head)) {
    throw new Refusal(`--head takes a number from 0 to 11, and got “${head.slice(0, 40)}”.`);
  }
  if (layer !== undefined && !/^[0-5]$/.test(layer)) {
    throw new Refusal(`--layer takes a number from 0 to 5, and got “${layer.slice(0, 40)}”.`);
  }
  const only = head === undefined ? undefined : [Number(head)];
  const scores = await withWeights(async () => {
    const model = await loadMiniLM(await load());
    const sentence = cutUp(model, text);
    const common = { gauge, ...(only && { only }) } as const;
    if (layer === undefined && way === undefined) return model.decompose(sentence, { ...common, groups });
    const behind = { ...common, layer: Number(layer ?? 0) };
    if (way !== 'mean') return model.decompose(sentence, { ...behind, way: way ?? 'direct' });
    fitsMeans(model, sentence.ids.length);
    return model.decompose(sentence, { ...behind, way, means: await model.corpusMeans() });
  });
  const which = {
    ...(layer !== undefined && { layer: Number(layer) }),
    ...(way !== undefined && { way }),
  };
  return answered(scores, { gauge, ...which }, { csv, json, only });
}

interface OwnValues {
  text?: string;
  ids?: string;
  part?: string;
  heads?: string;
  epsilon?: string;
  head?: string;
  layer?: string;
  way: Way | undefined;
  gauge: 'canonical' | 'raw';
  csv: boolean;
  json: boolean;
}

async function ofOwnModel(path: string, values: OwnValues): Promise<string> {
  const { text, ids, head, layer, way, gauge, csv, json } = values;
  if (layer !== undefined && !/^\d{1,3}$/.test(layer)) {
    throw new Refusal(`--layer takes the number of a layer, from 0, and got “${layer.slice(0, 40)}”.`);
  }
  if ((text === undefined) === (ids === undefined)) {
    throw new Refusal('Say what to take apart: --text "The cat sat on the mat.", or --ids 101,2023,102.');
  }
  if (head !== undefined && !/^\d{1,4}$/.test(head)) {
    throw new Refusal(`--head takes the number of a head, from 0, and got “${head.slice(0, 40)}”.`);
  }
  const only = head === undefined ? undefined : [Number(head)];
  return told(async () => {
    const model = await opened(path, values);
    const input =
      text ??
      ({
        ids: (ids as string).split(',').map((id) => (id.trim() === '' ? Number.NaN : Number(id))),
      } as const);
    const [content, position, ...others] = model.summands as [string, string];
    // Nine terms, as for MiniLM. For a model without summands the library says why there are none.
    const three = { [content]: [content], [position]: [position], rest: [...others, 'constant'] };
    const behind = Number(layer ?? 0) > 0 || way !== undefined;
    if (way === 'mean')
      fitsMeans(
        model,
        typeof input === 'string' ? (await model.tokenize(input)).ids.length : input.ids.length,
      );
    const means = way === 'mean' ? await model.corpusMeans() : undefined;
    const scores = await model.decompose(input, {
      gauge,
      ...(means && { means }),
      ...(behind
        ? { ...(layer && { layer: Number(layer) }), ...(way && { way }) }
        : content && { groups: three }),
      ...(only && { only }),
    });
    const which = { ...(layer !== undefined && { layer: Number(layer) }), ...(way !== undefined && { way }) };
    return answered(scores, { model: model.name, gauge, ...which }, { csv, json, only });
  });
}

function answered(
  scores: Scores & { sentence: Sentence },
  which: Pick<Answer, 'model' | 'gauge' | 'layer' | 'way'>,
  { csv, json, only }: { csv: boolean; json: boolean; only: number[] | undefined },
): string {
  const { tokens, dropped } = scores.sentence;
  // A relative bias has no terms with other parts.
  const pairs = scores.parts
    .flatMap((query) => scores.parts.map((key) => ({ query, key })))
    .map((pair, term) => ({ ...pair, term }))
    .filter(({ query, key }) => (query === 'relative') === (key === 'relative'));
  const names = pairs.map(({ query, key }) => `${query} → ${key}`);
  const cut =
    dropped > 0
      ? `The model takes ${tokens.length} tokens; ${dropped} more of this text are left out.\n`
      : '';
  // CSV has no place for this sentence.
  if (csv) process.stderr.write(cut);

  if (only) {
    const [one = 0] = only;
    const terms = pairs.map(({ query, key }) => termOf(scores, one, query, key));
    const logits = logitsOf(scores, one);
    const columns = ['query', 'key', 'query token', 'key token', ...names, 'score'];
    const rows = Array.from(logits, (score, cell) => {
      const [i, j] = [Math.floor(cell / scores.n), cell % scores.n];
      const at = [tokens[i] as string, tokens[j] as string];
      return [i, j, ...at, ...terms.map((term) => term[cell] as number), score];
    });
    return printed({ tokens, dropped, ...which, head: one, columns, rows }, { csv, json, cut });
  }
  const columns = ['head', ...names, 'residual'];
  const rows = scores.heads.map((one, place) => [
    one,
    ...pairs.map(({ term }) => sharesOf(scores, one)[term] as number),
    scores.residuals[place] as number,
  ]);
  return printed({ tokens, dropped, ...which, columns, rows }, { csv, json, cut });
}

/** Refuses sentences with more positions than have a mean over the corpus: see corpusMeans(). */
function fitsMeans({ positions }: { positions: number }, tokens: number): void {
  const most = Math.min(31, positions - 1);
  if (tokens > most) {
    throw new Refusal(
      `--way mean takes at most ${most} tokens, for as many positions have a mean, and got ${tokens}.`,
    );
  }
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
  model?: string;
  gauge: string;
  layer?: number;
  way?: string;
  head?: number;
  columns: string[];
  rows: (string | number)[][];
}

function printed(found: Answer, { csv, json, cut }: { csv: boolean; json: boolean; cut: string }): string {
  const { columns, rows, tokens, head, layer, gauge, model } = found;
  const where = `${layer === undefined ? '' : `, layer ${layer}`}${model === undefined ? '' : `${layer === undefined ? ', first layer' : ''} of ${model}`}`;
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
