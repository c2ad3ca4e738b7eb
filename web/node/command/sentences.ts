// The sentences that the command reads: one from --text or --ids, or the lines of a file or standard input.
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { OpenedModel, Sentence } from 'add-or-concatenate';
import { integerOf, quote, Refusal } from './options.js';

/** A sentence before a model has cut it into tokens. */
export interface GivenSentence {
  text: string;
  /** Where it stands, such as “Line 3 of “sentences.txt”: ”; empty for a single sentence. */
  place: string;
}

/** Options that say what to decompose. */
export const sentenceOptions = {
  text: { type: 'string' },
  ids: { type: 'string' },
  file: { type: 'string' },
} as const;

type SentenceValues = { [Name in keyof typeof sentenceOptions]?: string | undefined };

export async function givenSentences({ text, ids, file }: SentenceValues): Promise<GivenSentence[]> {
  if ([text, ids, file].filter((value) => value?.trim()).length !== 1)
    throw new Refusal(
      'Say what to take apart, by one of --text "The cat sat on the mat.", --ids 101,2023,102 and --file sentences.txt, which has a sentence a line; --file - reads standard input.',
    );
  if (file === undefined) return [{ text: text ?? (ids as string), place: '' }];
  return linesOf('--file', file);
}

/** The lines of a text file, or of standard input for -, without the empty ones. */
export async function linesOf(option: string, file: string): Promise<GivenSentence[]> {
  const name = file === '-' ? 'standard input' : quote(file, 200);
  const bytes = await (file === '-' ? buffer(process.stdin) : readFile(file)).catch(() => {
    throw new Refusal(`${option} takes a text file, and ${name} cannot be read.`);
  });
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(`${option} takes a text file in UTF-8, and ${name} is in another encoding.`);
  }
  const lines = text
    .split(/\r?\n/)
    .map((line, at) => ({ text: line, place: `Line ${at + 1} of ${name}: ` }))
    .filter((line) => line.text.trim() !== '');
  if (lines.length === 0) throw new Refusal(`${option} takes a sentence a line, and ${name} has none.`);
  return lines;
}

/** Reads vocabulary numbers, with commas between them. */
export function idsOf(option: string, text: string): { ids: number[] } {
  const ids = text.split(',').map((id) => id.trim());
  const wrong = ids.find((id) => !/^\d+$/.test(id));
  if (wrong !== undefined)
    throw new Refusal(
      `${option} takes the numbers of tokens, from 0 up, with commas between them, such as 101,2023,102, and got ${quote(wrong)}.`,
    );
  return { ids: ids.map(Number) };
}

/** Cuts texts into tokens, or reads them as numbers. */
export async function tokenized(
  model: OpenedModel,
  givenSentences: readonly GivenSentence[],
  areNumbers: boolean,
): Promise<Sentence[]> {
  const sentences: Sentence[] = [];
  for (const { text, place } of givenSentences) {
    await inPlace(place, async () => {
      if (!areNumbers) {
        if (!model.readsText)
          throw new Refusal(
            'There is no tokenizer.json beside the weights, which a text needs. Put it there, or give the numbers of tokens: --ids 101,2023,102.',
          );
        sentences.push(await model.tokenize(text));
      } else {
        const { ids } = idsOf(place ? '--file' : '--ids', text);
        sentences.push({ ids, tokens: await model.pieces(ids), dropped: 0 });
      }
    });
  }
  return sentences;
}

/** Does work on a sentence, and puts the place of the sentence in front of a refusal. */
export async function inPlace<T>(place: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RangeError || error instanceof Refusal)
      throw new Refusal(`${place}${error.message}`);
    throw error;
  }
}

/** Reads the rows that shares leave out: indices with commas between them, `last`, or `none`. */
export function excludedRowsOf(text: string | undefined): (number | 'last')[] | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === 'none') return [];
  const rows = text.split(',').map((part) => {
    const row = part.trim();
    return row === 'last' ? row : integerOf('--excluded-rows', row, 0, Infinity);
  });
  const twice = rows.find((row, at) => rows.indexOf(row) < at);
  if (twice !== undefined) throw new Refusal(`--excluded-rows names ${twice} more than once.`);
  return rows;
}

/** The rows of a sentence that shares leave out; by default those whose token the model fixes. */
export function excludedIn(
  rows: readonly (number | 'last')[] | undefined,
  model: OpenedModel,
  tokens: number,
): number[] {
  if (!rows) return model.excludedRows.filter((row) => row < tokens);
  const named = rows.map((row) =>
    row === 'last' ? tokens - 1 : integerOf('--excluded-rows', String(row), 0, tokens - 1),
  );
  return [...new Set(named)];
}
