// The command `decompose`: the scores of a layer of MiniLM or of the user's own model, and the terms of each.

import { readFile } from 'node:fs/promises';
import {
  load,
  loadMiniLM,
  logitsOf,
  type MiniLM,
  type OpenedModel,
  type Scores,
  type Sentence,
  sharesOf,
  termOf,
  type Way,
} from 'add-or-concatenate';
import { groups } from '../../figures/terms.js';
import { csvOf } from '../../plot/csv.js';
import { choiceOf, integerOf, parseOptions, quote, Refusal, refuseErrors, withWeights } from './options.js';
import { inLine, say } from './terminal.js';
import { idsOf, openOptions, openUserModel } from './userModel.js';

export async function decompose(args: string[]): Promise<string> {
  const { values } = parseOptions({
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
      'excluded-rows': { type: 'string' },
      corpus: { type: 'string' },
      csv: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { text, csv, json } = values;
  if (csv && json) throw new Refusal('Choose one of --csv and --json.');
  const gauge = choiceOf('--gauge', values.gauge, ['canonical', 'raw']);
  const excludedRows = excludedRowsOf(values['excluded-rows']);
  const way =
    values.way === undefined
      ? undefined
      : choiceOf('--way', values.way, ['direct', 'streams', 'mean', 'mechanism']);
  if (values.model !== undefined)
    return decomposeUserModel(values.model, { ...values, gauge, excludedRows, way });
  const option = ['ids', 'corpus', ...Object.keys(openOptions)].find((name) => name in values);
  if (option) throw new Refusal(`--${option} is for a model of your own: --model PATH.`);
  if (!text?.trim()) throw new Refusal('Say what to take apart: --text "The cat sat on the mat."');
  const head = values.head === undefined ? undefined : integerOf('--head', values.head, 0, 11);
  const layer = values.layer === undefined ? undefined : integerOf('--layer', values.layer, 0, 5);
  const only = head === undefined ? undefined : [head];
  const scores = await withWeights(async () => {
    const model = await loadMiniLM(await load({ module: 'small' }), { rest: load });
    const sentence = await tokenize(model, text);
    fitsRows(excludedRows, sentence.ids.length);
    const common = { ...gaugeOf(way, { gauge, excludedRows }), ...(only && { only }) } as const;
    if (layer === undefined && way === undefined) return model.decompose(sentence, { ...common, groups });
    const layerOptions = { ...common, layer: layer ?? 0 };
    if (way !== 'mean' && way !== 'mechanism')
      return model.decompose(sentence, { ...layerOptions, way: way ?? 'direct' });
    fitsMeans(model, sentence.ids.length, way);
    const means = await model.corpusMeans({ scores: way === 'mechanism' });
    return model.decompose(sentence, { ...layerOptions, way, means });
  });
  const which = {
    ...(layer !== undefined && { layer }),
    ...(way !== undefined && { way }),
  };
  return answerOf(scores, { gauge, ...which }, { csv, json, only });
}

interface UserModelValues {
  text?: string;
  ids?: string;
  family?: string;
  part?: string;
  heads?: string;
  epsilon?: string;
  head?: string;
  layer?: string;
  way: Way | undefined;
  gauge: 'canonical' | 'raw';
  excludedRows: number[] | undefined;
  corpus?: string;
  csv: boolean;
  json: boolean;
}

async function decomposeUserModel(path: string, values: UserModelValues): Promise<string> {
  const { text, ids, gauge, excludedRows, corpus, csv, json } = values;
  const layer = values.layer === undefined ? undefined : integerOf('--layer', values.layer, 0, Infinity);
  const head = values.head === undefined ? undefined : integerOf('--head', values.head, 0, Infinity);
  if ((text === undefined) === (ids === undefined)) {
    throw new Refusal('Say what to take apart: --text "The cat sat on the mat.", or --ids 101,2023,102.');
  }
  const only = head === undefined ? undefined : [head];
  const source = text ?? idsOf('--ids', ids as string);
  return refuseErrors(async () => {
    const model = await openUserModel(path, values);
    const input = typeof source === 'string' ? await model.tokenize(source) : source;
    const [content, position, ...others] = model.summands as [string, string];
    // A model that adds no positions is split by what each score asks.
    const way = values.way ?? (content && !position ? 'mechanism' : undefined);
    const byMeans = way === 'mean' || way === 'mechanism';
    if (corpus !== undefined && !byMeans)
      throw new Refusal('--corpus is for --way mean and --way mechanism.');
    // Nine terms, as for MiniLM. For a model without summands the library says why there are none.
    const three = { [content]: [content], [position]: [position], rest: [...others, 'constant'] };
    const behind = (layer ?? 0) > 0 || way !== undefined;
    if (byMeans) {
      fitsMeans(model, input.ids.length, way);
      // Checked here, because the library checks head and layer only after the means, which take long.
      if (layer !== undefined && model.layers > 0) integerOf('--layer', String(layer), 0, model.layers - 1);
      if (head !== undefined && model.heads !== undefined)
        integerOf('--head', String(head), 0, model.heads - 1);
    }
    const gaugeOptions = gaugeOf(way, values);
    fitsRows(excludedRows, input.ids.length);
    const sentences = byMeans ? await sentencesOf(model, way, values) : undefined;
    const means = byMeans
      ? await model.corpusMeans({ scores: way === 'mechanism', ...(sentences && { sentences }) })
      : undefined;
    const scores = await model.decompose(input, {
      ...gaugeOptions,
      ...(means && { means }),
      ...(behind ? { ...(layer && { layer }), ...(way && { way }) } : content && { groups: three }),
      ...(only && { only }),
    });
    const which = { ...(layer !== undefined && { layer }), ...(way !== undefined && { way }) };
    return answerOf(scores, { model: model.name, gauge, ...which }, { csv, json, only });
  });
}

function answerOf(
  scores: Scores & { sentence: Sentence },
  which: Pick<Answer, 'model' | 'gauge' | 'layer' | 'way'>,
  { csv, json, only }: { csv: boolean; json: boolean; only: number[] | undefined },
): string {
  const { tokens, dropped } = scores.sentence;
  const { excludedRows } = scores;
  // In the way `mechanism`, `offset` has no terms with other parts, and positions have none with the
  // constant.
  const alone = (part: string) => which.way === 'mechanism' && part === 'offset';
  const none = (query: string, key: string) =>
    which.way === 'mechanism' &&
    query !== key &&
    ['constant', 'position'].every((part) => [query, key].includes(part));
  const pairs = scores.parts
    .flatMap((query) => scores.parts.map((key) => ({ query, key })))
    .map((pair, term) => ({ ...pair, term }))
    .filter(({ query, key }) => (alone(query) || alone(key) ? query === key : !none(query, key)));
  const names = pairs.map(({ query, key }) => `${query} → ${key}`);
  const cut = truncation(tokens, dropped, csv);

  if (only) {
    const [onlyHead = 0] = only;
    const terms = pairs.map(({ query, key }) => termOf(scores, onlyHead, query, key));
    const logits = logitsOf(scores, onlyHead);
    const columns = ['query', 'key', 'query token', 'key token', ...names, 'score'];
    const rows = Array.from(logits, (score, cell) => {
      const [i, j] = [Math.floor(cell / scores.n), cell % scores.n];
      const at = [tokens[i] as string, tokens[j] as string];
      return [i, j, ...at, ...terms.map((term) => term[cell] as number), score];
    });
    return print(
      { tokens, dropped, ...which, excludedRows, head: onlyHead, columns, rows },
      { csv, json, cut },
    );
  }
  const columns = ['head', ...names, 'residual'];
  const rows = scores.heads.map((head, place) => [
    head,
    ...pairs.map(({ term }) => sharesOf(scores, head)[term] as number),
    scores.residuals[place] as number,
  ]);
  return print({ tokens, dropped, ...which, excludedRows, columns, rows }, { csv, json, cut });
}

/** The sentence about a text that was too long. */
function truncation(tokens: readonly string[], dropped: number, csv: boolean): string {
  const cut =
    dropped > 0 ? `The model takes ${tokens.length} tokens; ${dropped} more of this text are left out.` : '';
  // CSV has no place for this sentence.
  if (csv && cut) say(cut);
  return cut;
}

/** Options about the gauge for the library. The way `mechanism` has those of its means instead. */
function gaugeOf(
  way: Way | undefined,
  { gauge, excludedRows }: Pick<UserModelValues, 'gauge' | 'excludedRows'>,
): { gauge?: 'canonical' | 'raw'; excludedRows?: number[] } {
  if (way !== 'mechanism') return { gauge, ...(excludedRows && { excludedRows }) };
  if (gauge === 'raw' || excludedRows)
    throw new Refusal(
      'The means over a corpus are the gauge of --way mechanism, and say which rows are excluded; leave out --gauge raw and --excluded-rows.',
    );
  return {};
}

/** Reads the rows that shares leave out, with commas between them. */
function excludedRowsOf(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  if (text === 'none') return [];
  return text.split(',').map((row) => integerOf('--excluded-rows', row.trim(), 0, Infinity));
}

/** Refuses rows that a sentence does not have, before means are computed, which takes long. */
function fitsRows(excludedRows: readonly number[] = [], tokens: number): void {
  for (const row of excludedRows) integerOf('--excluded-rows', String(row), 0, tokens - 1);
}

/** Returns the sentences to compute means over; undefined for those of the library. */
async function sentencesOf(
  { readsText, name, layers }: OpenedModel,
  way: Way | undefined,
  { corpus, ids }: Pick<UserModelValues, 'corpus' | 'ids'>,
): Promise<(string | { ids: number[] })[] | undefined> {
  // A file without layers is refused by the library, with or without a corpus.
  if (corpus === undefined && !readsText && layers > 0)
    throw new Refusal(
      `--way ${way}, by which this ${name} is taken apart, needs means over a corpus, and no tokenizer.json is beside the weights to cut texts with. Give one in numbers: --corpus FILE, a sentence a line, such as 101,2023,102.`,
    );
  if (corpus === undefined) return undefined;
  const text = await readFile(corpus, 'utf8').catch(() => {
    throw new Refusal(`--corpus takes a text file, and ${quote(corpus)} cannot be read.`);
  });
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return ids === undefined ? lines : lines.map((line) => idsOf('--corpus', line));
}

/** Refuses sentences with more positions than have a mean over the corpus: see corpusMeans(). */
function fitsMeans(
  { positions, markers: { before, after } }: Pick<OpenedModel, 'positions' | 'markers'>,
  tokens: number,
  way = 'mean',
): void {
  const most = before + Math.min(30, (positions || Infinity) - before - after);
  if (tokens > most) {
    throw new Refusal(
      `--way ${way} takes at most ${most} tokens, for as many positions have a mean, and got ${tokens}.`,
    );
  }
}

async function tokenize(model: MiniLM, text: string): Promise<Sentence> {
  try {
    return await model.tokenize(text);
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
  excludedRows: readonly number[];
  layer?: number;
  way?: string;
  head?: number;
  columns: string[];
  rows: (string | number)[][];
}

function print(result: Answer, { csv, json, cut }: { csv: boolean; json: boolean; cut: string }): string {
  const { columns, rows, tokens, head, layer, gauge, excludedRows, model } = result;
  const where = `${layer === undefined ? '' : `, layer ${layer}`}${model === undefined ? '' : `${layer === undefined ? ', first layer' : ''} of ${model}`}`;
  if (json) return `${JSON.stringify(result, null, 1)}\n`;
  if (csv) return csvOf({ columns: [...columns, 'gauge'], rows: rows.map((row) => [...row, gauge]) });
  const shown = rows.map((row) =>
    row.map((value, column) => {
      if (typeof value === 'string') return inLine(value);
      if (Number.isInteger(value)) return String(value);
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
  const without =
    excludedRows.length > 0
      ? ` without row${excludedRows.length > 1 ? 's' : ''} ${excludedRows.join(', ')}`
      : '';
  const what =
    head === undefined
      ? `Shares of what each head’s scores vary by over keys${without}${where}, ${gauge} gauge, query part → key part:\n`
      : `Scores of head ${head}${where}, and the terms that they are the sum of, ${gauge} gauge, query part → key part:\n`;
  return `${cut && `${cut}\n`}${tokens.map(inLine).join(' ')}\n${what}${line(columns)}${shown.map(line).join('')}`;
}
