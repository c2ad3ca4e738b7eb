// superpose decompose: the scores of a layer of MiniLM or of the user's own model, and the terms of each.

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
} from 'superpose';
import { groups } from '../../figures/terms.js';
import { csvOf } from '../../plot/format.js';
import { choiceOf, parsed, quoted, Refusal, told, wholeOf, withWeights } from './options.js';
import { idsOf, opened, openOptions } from './ownModel.js';
import { inLine, say } from './terminal.js';

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
      'excluded-rows': { type: 'string' },
      corpus: { type: 'string' },
      csv: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { text, csv, json } = values;
  if (csv && json) throw new Refusal('Choose one of --csv and --json.');
  const gauge = choiceOf('--gauge', values.gauge, ['canonical', 'raw']);
  const excludedRows = excludedOf(values['excluded-rows']);
  const way =
    values.way === undefined
      ? undefined
      : choiceOf('--way', values.way, ['direct', 'streams', 'mean', 'mechanism']);
  if (values.model !== undefined) return ofOwnModel(values.model, { ...values, gauge, excludedRows, way });
  const own = ['ids', 'corpus', ...Object.keys(openOptions)].find((name) => name in values);
  if (own) throw new Refusal(`--${own} is for a model of your own: --model PATH.`);
  if (!text?.trim()) throw new Refusal('Say what to take apart: --text "The cat sat on the mat."');
  const head = values.head === undefined ? undefined : wholeOf('--head', values.head, 0, 11);
  const layer = values.layer === undefined ? undefined : wholeOf('--layer', values.layer, 0, 5);
  const only = head === undefined ? undefined : [head];
  const scores = await withWeights(async () => {
    const model = await loadMiniLM(await load({ module: 'small' }), { rest: load });
    const sentence = await cutUp(model, text);
    fitsRows(excludedRows, sentence.ids.length);
    const common = { ...gaugeOf(way, { gauge, excludedRows }), ...(only && { only }) } as const;
    if (layer === undefined && way === undefined) return model.decompose(sentence, { ...common, groups });
    const behind = { ...common, layer: layer ?? 0 };
    if (way !== 'mean' && way !== 'mechanism')
      return model.decompose(sentence, { ...behind, way: way ?? 'direct' });
    fitsMeans(model, sentence.ids.length, way);
    const means = await model.corpusMeans({ scores: way === 'mechanism' });
    return model.decompose(sentence, { ...behind, way, means });
  });
  const which = {
    ...(layer !== undefined && { layer }),
    ...(way !== undefined && { way }),
  };
  return answered(scores, { gauge, ...which }, { csv, json, only });
}

interface OwnValues {
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

async function ofOwnModel(path: string, values: OwnValues): Promise<string> {
  const { text, ids, gauge, excludedRows, corpus, csv, json } = values;
  const layer = values.layer === undefined ? undefined : wholeOf('--layer', values.layer, 0, Infinity);
  const head = values.head === undefined ? undefined : wholeOf('--head', values.head, 0, Infinity);
  if ((text === undefined) === (ids === undefined)) {
    throw new Refusal('Say what to take apart: --text "The cat sat on the mat.", or --ids 101,2023,102.');
  }
  const only = head === undefined ? undefined : [head];
  const given = text ?? idsOf('--ids', ids as string);
  return told(async () => {
    const model = await opened(path, values);
    const input = typeof given === 'string' ? await model.tokenize(given) : given;
    const [content, position, ...others] = model.summands as [string, string];
    // Of a model that adds no positions, what each score asks.
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
      if (layer !== undefined && model.layers > 0) wholeOf('--layer', String(layer), 0, model.layers - 1);
      if (head !== undefined && model.heads !== undefined)
        wholeOf('--head', String(head), 0, model.heads - 1);
    }
    const gauged = gaugeOf(way, values);
    fitsRows(excludedRows, input.ids.length);
    const sentences = byMeans ? await sentencesOf(model, way, values) : undefined;
    const means = byMeans
      ? await model.corpusMeans({ scores: way === 'mechanism', ...(sentences && { sentences }) })
      : undefined;
    const scores = await model.decompose(input, {
      ...gauged,
      ...(means && { means }),
      ...(behind ? { ...(layer && { layer }), ...(way && { way }) } : content && { groups: three }),
      ...(only && { only }),
    });
    const which = { ...(layer !== undefined && { layer }), ...(way !== undefined && { way }) };
    return answered(scores, { model: model.name, gauge, ...which }, { csv, json, only });
  });
}

function answered(
  scores: Scores & { sentence: Sentence },
  which: Pick<Answer, 'model' | 'gauge' | 'layer' | 'way'>,
  { csv, json, only }: { csv: boolean; json: boolean; only: number[] | undefined },
): string {
  const { tokens, dropped } = scores.sentence;
  const { excludedRows } = scores;
  // By mechanism token → token by distance has no terms with other parts, and positions none with the constant.
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
  const cut = cutShort(tokens, dropped, csv);

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
    return printed({ tokens, dropped, ...which, excludedRows, head: one, columns, rows }, { csv, json, cut });
  }
  const columns = ['head', ...names, 'residual'];
  const rows = scores.heads.map((one, place) => [
    one,
    ...pairs.map(({ term }) => sharesOf(scores, one)[term] as number),
    scores.residuals[place] as number,
  ]);
  return printed({ tokens, dropped, ...which, excludedRows, columns, rows }, { csv, json, cut });
}

/** What is said of a text that was too long. */
function cutShort(tokens: readonly string[], dropped: number, csv: boolean): string {
  const cut =
    dropped > 0 ? `The model takes ${tokens.length} tokens; ${dropped} more of this text are left out.` : '';
  // CSV has no place for this sentence.
  if (csv && cut) say(cut);
  return cut;
}

/** What the library is told of the gauge. That of the way `mechanism`, and its excluded rows, are its means'. */
function gaugeOf(
  way: Way | undefined,
  { gauge, excludedRows }: Pick<OwnValues, 'gauge' | 'excludedRows'>,
): { gauge?: 'canonical' | 'raw'; excludedRows?: number[] } {
  if (way !== 'mechanism') return { gauge, ...(excludedRows && { excludedRows }) };
  if (gauge === 'raw' || excludedRows)
    throw new Refusal(
      'The means over a corpus are the gauge of --way mechanism, and say which rows are excluded; leave out --gauge raw and --excluded-rows.',
    );
  return {};
}

/** Rows that shares leave out, with commas between them. */
function excludedOf(given: string | undefined): number[] | undefined {
  if (given === undefined) return undefined;
  if (given === 'none') return [];
  return given.split(',').map((row) => wholeOf('--excluded-rows', row.trim(), 0, Infinity));
}

/** Refuses rows that a sentence does not have, before means are gathered, which takes long. */
function fitsRows(excludedRows: readonly number[] = [], tokens: number): void {
  for (const row of excludedRows) wholeOf('--excluded-rows', String(row), 0, tokens - 1);
}

/** The sentences that means are gathered over; those of the library unless given. */
async function sentencesOf(
  { readsText, name, layers }: OpenedModel,
  way: Way | undefined,
  { corpus, ids }: Pick<OwnValues, 'corpus' | 'ids'>,
): Promise<(string | { ids: number[] })[] | undefined> {
  // A file without layers is refused by the library, with or without a corpus.
  if (corpus === undefined && !readsText && layers > 0)
    throw new Refusal(
      `--way ${way}, by which this ${name} is taken apart, needs means over a corpus, and no tokenizer.json is beside the weights to cut texts with. Give one in numbers: --corpus FILE, a sentence a line, such as 101,2023,102.`,
    );
  if (corpus === undefined) return undefined;
  const text = await readFile(corpus, 'utf8').catch(() => {
    throw new Refusal(`--corpus takes a text file, and ${quoted(corpus)} cannot be read.`);
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

async function cutUp(model: MiniLM, text: string): Promise<Sentence> {
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

function printed(found: Answer, { csv, json, cut }: { csv: boolean; json: boolean; cut: string }): string {
  const { columns, rows, tokens, head, layer, gauge, excludedRows, model } = found;
  const where = `${layer === undefined ? '' : `, layer ${layer}`}${model === undefined ? '' : `${layer === undefined ? ', first layer' : ''} of ${model}`}`;
  if (json) return `${JSON.stringify(found, null, 1)}\n`;
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
