// superpose embed: the embeddings of sentences, by MiniLM or the user's own model, computed on threads.
import { availableParallelism } from 'node:os';
import { load, type Sentence } from 'superpose';
import { csvRow } from '../index.js';
import { embedded, type ModelAsked, modelAsked } from './embedWorkers.js';
import { textOf } from './files.js';
import { openOptions } from './model.js';
import { nearestRows } from './nearest.js';
import { parsed, quoted, wholeOf } from './options.js';
import { Refusal, told, withWeights } from './refusal.js';
import { inLine, progress } from './terminal.js';

const mostWorkers = 256;

/** The result for one text. */
interface Embedded {
  text: string;
  sentence: Sentence;
  /** [d], of length one. */
  embedding: Float32Array;
}

export async function embed(args: string[]): Promise<Iterable<string>> {
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
  const own = Object.keys(openOptions).find((name) => name in given);
  if (own && given.model === undefined)
    throw new Refusal(`--${own} is for a model of your own: --model PATH.`);
  const most = workers === undefined ? availableParallelism() : wholeOf('--workers', workers, 1, mostWorkers);
  const texts = file === undefined ? text : await linesOf(file);
  const found = await withWeights(() => told(() => allEmbedded(texts, given, most)));
  if (json) return asJson(found);
  return csv ? asCsv(found) : nearest(found);
}

async function linesOf(file: string): Promise<string[]> {
  const lines = (await textOf(file)).split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new Refusal(`${quoted(file, 200)} has no line with a sentence.`);
  return lines;
}

/** All texts are tokenized before the first is embedded, so that one that the model cannot take is reported at once. */
async function allEmbedded(
  texts: readonly string[],
  given: ModelAsked,
  workers: number,
): Promise<Embedded[]> {
  const model = await modelAsked(given);
  const sentences: Sentence[] = [];
  for (const [at, text] of texts.entries()) {
    const which = `Sentence ${at + 1} of ${texts.length}, ${quoted(text)}`;
    const sentence = await (async () => model.tokenize(text))().catch((error: Error) => {
      // An error that every sentence would cause shows at the first.
      throw at > 0 && error instanceof RangeError ? new RangeError(`${which}: ${error.message}`) : error;
    });
    const { length } = sentence.ids;
    if (length < 1 || length > (model.positions || Infinity))
      throw new Refusal(
        `${which}, has ${length} tokens; the model takes ${model.positions ? `from 1 to ${model.positions}` : 'at least 1'}.`,
      );
    sentences.push(sentence);
  }
  const found: Embedded[] = [];
  const tell = () => progress(`${found.length} of ${texts.length} sentences are embedded`);
  tell();
  for await (const embedding of embedded(sentences, given, workers)) {
    const at = found.length;
    found.push({ text: texts[at] as string, sentence: sentences[at] as Sentence, embedding });
    tell();
  }
  progress();
  return found;
}

function* asJson(found: readonly Embedded[]): Iterable<string> {
  yield '{\n "sentences": [\n';
  for (const [at, { text, sentence, embedding }] of found.entries()) {
    const { ids, dropped } = sentence;
    const one = JSON.stringify({ text, tokens: ids.length, dropped, embedding: [...embedding] }, null, 1);
    yield `  ${one.replaceAll('\n', '\n  ')}${at + 1 < found.length ? ',' : ''}\n`;
  }
  yield ' ]\n}\n';
}

function* asCsv(found: readonly Embedded[]): Iterable<string> {
  const channels = Array.from((found[0] as Embedded).embedding, (_, channel) => `channel ${channel}`);
  yield csvRow(['text', 'tokens', ...channels]);
  for (const { text, sentence, embedding } of found) yield csvRow([text, sentence.ids.length, ...embedding]);
}

/** For people to read: each sentence, and which other one is nearest. */
async function nearest(found: readonly Embedded[]): Promise<Iterable<string>> {
  const { length } = found;
  const columns = (found[0] as Embedded).embedding.length;
  const best = nearestRows(
    await load(),
    found.map(({ embedding }) => embedding),
    (rows) => progress(`the nearest of ${rows} of ${length} sentences are found`),
  );
  progress();
  const lines = found.map(({ text }, row) => {
    const other = best[row];
    const so = other
      ? `  nearest, cosine ${other.cosine.toFixed(3)}: ${inLine(found[other.row]?.text ?? '')}`
      : '';
    return `${inLine(text)}${so}\n`;
  });
  return [
    `Embeddings of ${length} ${length === 1 ? 'sentence' : 'sentences'}, ${columns} channels each; --csv and --json have the numbers.\n`,
    ...lines,
  ];
}
