// superpose embed: the embeddings of sentences, by MiniLM or the user's own model, computed on threads.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { load } from 'superpose';
import { csvOf } from '../index.js';
import { type Embedded, embedded } from './embedWorkers.js';
import { openOptions } from './model.js';
import { parsed, Refusal, told, withWeights } from './refusal.js';

const mostWorkers = 256;

export async function embed(args: string[]): Promise<string> {
  const { values } = parsed({
    args,
    options: {
      text: { type: 'string', multiple: true, default: [] },
      file: { type: 'string' },
      model: { type: 'string' },
      ...openOptions,
      workers: { type: 'string' },
      csv: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { text, file, workers, csv, json, ...given } = values;
  if (csv && json) throw new Refusal('Choose one of --csv and --json.');
  if ((text.length === 0) === (file === undefined))
    throw new Refusal(
      'Say what to embed: --text "The cat sat.", which may be repeated, or --file FILE, one sentence per line.',
    );
  const own = ['part', 'heads', 'epsilon'].find((name) => name in given);
  if (own && given.model === undefined)
    throw new Refusal(`--${own} is for a model of your own: --model PATH.`);
  const most = workers === undefined ? availableParallelism() : Number(workers);
  if (!Number.isInteger(most) || most < 1 || most > mostWorkers)
    throw new Refusal(
      `--workers takes a whole number from 1 to ${mostWorkers}, and got “${String(workers).slice(0, 40)}”.`,
    );
  const texts = file === undefined ? text : await linesOf(file);
  const found = await withWeights(() => told(() => embedded(texts, given, most)));
  if (json) {
    const sentences = texts.map((one, at) => {
      const { tokens, dropped, embedding } = found[at] as Embedded;
      return { text: one, tokens, dropped, embedding: [...embedding] };
    });
    return `${JSON.stringify({ sentences }, null, 1)}\n`;
  }
  if (csv) {
    const { length } = (found[0] as Embedded).embedding;
    return csvOf({
      columns: ['text', 'tokens', ...Array.from({ length }, (_, channel) => `channel ${channel}`)],
      rows: texts.map((one, at) => {
        const { tokens, embedding } = found[at] as Embedded;
        return [one, tokens, ...embedding];
      }),
    });
  }
  return nearest(texts, found);
}

async function linesOf(file: string): Promise<string[]> {
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(`“${file.slice(0, 80)}” could not be read (${error.code}).`);
  });
  const lines = content.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new Refusal(`“${file.slice(0, 80)}” has no line with a sentence.`);
  return lines;
}

/** For people to read: each sentence, and which other one is nearest. */
async function nearest(texts: readonly string[], found: readonly Embedded[]): Promise<string> {
  const columns = (found[0] as Embedded).embedding.length;
  const data = new Float32Array(found.length * columns);
  for (const [row, { embedding }] of found.entries()) data.set(embedding, row * columns);
  const all = { data, rows: found.length, columns };
  const { data: cosines } = (await load()).rowCosines(all, all);
  const lines = texts.map((text, row) => {
    const others = Array.from(cosines.subarray(row * texts.length, (row + 1) * texts.length)).map(
      (cosine, other) => (other === row ? Number.NEGATIVE_INFINITY : cosine),
    );
    const cosine = Math.max(...others);
    const so =
      texts.length > 1 ? `  nearest, cosine ${cosine.toFixed(3)}: ${texts[others.indexOf(cosine)]}` : '';
    return `${text}${so}\n`;
  });
  return `Embeddings of ${texts.length} ${texts.length === 1 ? 'sentence' : 'sentences'}, ${columns} channels each; --csv and --json have the numbers.\n${lines.join('')}`;
}
