// The command `decompose`: the scores of sentences in layers of MiniLM or of the user's own model, and the
// terms of each.
import { load, loadMiniLM, type OpenedModel, type Sentence, type Way } from 'add-or-concatenate';
import { counted } from '../../../build/package/check.js';
import { Interrupted, interruption } from './interrupted.js';
import {
  type Choice,
  choiceOf,
  chosenOf,
  indicesOf,
  parseOptions,
  Refusal,
  refuseErrors,
  withWeights,
} from './options.js';
import { arrayOptions, deliver, formats, type Output, outputOf } from './output.js';
import {
  excludedIn,
  excludedRowsOf,
  type GivenSentence,
  givenSentences,
  idsOf,
  inPlace,
  linesOf,
  sentenceOptions,
  tokenized,
} from './sentences.js';
import { type Piece, piecesOf, type Study, type StudyRun } from './study.js';
import { axes, npyStudy, safetensorsStudy, shapeOf } from './studyArrays.js';
import { csvStudy, jsonStudy, textStudy, truncation } from './studyTables.js';
import { progress, say, tenthsOf } from './terminal.js';
import { openOptions, openUserModel } from './userModel.js';

export async function decompose(args: string[]): Promise<string> {
  const { values } = parseOptions({
    args,
    options: {
      ...sentenceOptions,
      model: { type: 'string' },
      ...openOptions,
      head: { type: 'string' },
      layer: { type: 'string' },
      way: { type: 'string' },
      gauge: { type: 'string', default: 'canonical' },
      'excluded-rows': { type: 'string' },
      corpus: { type: 'string' },
      ...arrayOptions,
    },
  });
  const { model: path, corpus } = values;
  const option = Object.keys(openOptions).find((name) => name in values);
  if (option && path === undefined)
    throw new Refusal(`--${option} is for a model of your own: --model PATH.`);
  const choices = {
    layer: indicesOf('--layer', values.layer),
    head: indicesOf('--head', values.head),
    way:
      values.way === undefined
        ? undefined
        : choiceOf('--way', values.way, ['direct', 'streams', 'mean', 'mechanism']),
    gauge: choiceOf('--gauge', values.gauge, ['canonical', 'raw']),
    excludedRows: excludedRowsOf(values['excluded-rows']),
  };
  if (values.file === '-' && corpus === '-')
    throw new Refusal('Standard input is read once: for --file or for --corpus.');
  const inputs = await givenSentences(values);
  const output = await outputOf(values, formats);
  if (output.format === 'npy' && choices.head !== undefined && inputs.length > 1)
    throw new Refusal(
      `A .npy file has one array, and the terms of ${inputs.length} sentences are one for each. Choose .safetensors, or leave out --head for their shares.`,
    );
  const signal = interruption();
  return refuseErrors(async () => {
    const model =
      path === undefined
        ? await withWeights(async () => loadMiniLM(await load({ module: 'small' }), { rest: load }))
        : await openUserModel(path, values);
    const areNumbers = values.ids !== undefined || (values.file !== undefined && !model.readsText);
    const name = path === undefined ? 'all-MiniLM-L6-v2' : model.name;
    const run = await studyOf(model, { name, inputs, areNumbers, corpus, signal, ...choices });
    return written(model, run, output);
  });
}

interface Request {
  name: string;
  inputs: readonly GivenSentence[];
  areNumbers: boolean;
  corpus: string | undefined;
  signal: AbortSignal;
  layer: Choice;
  head: Choice;
  way: Way | undefined;
  gauge: 'canonical' | 'raw';
  excludedRows: (number | 'last')[] | undefined;
}

/** Checks everything against the model before anything is computed, and gathers means, which takes long. */
async function studyOf(model: OpenedModel, request: Request): Promise<StudyRun> {
  const { name, inputs, areNumbers, corpus, gauge, signal } = request;
  const addsPositions = model.summands.includes('position');
  const layers = chosenOf('--layer', request.layer, model.layers);
  const only = chosenOf('--head', request.head, model.heads ?? 0);
  // A model that adds no positions is split by what each score asks.
  const way = request.way ?? (addsPositions ? layers && 'direct' : 'mechanism');
  const byMeans = way === 'mean' || way === 'mechanism';
  if (corpus !== undefined && !byMeans) throw new Refusal('--corpus is for --way mean and --way mechanism.');
  if (way === 'mechanism' && (gauge === 'raw' || request.excludedRows))
    throw new Refusal(
      'The means over a corpus are the gauge of --way mechanism, and say which rows are excluded; leave out --gauge raw and --excluded-rows.',
    );
  const sentences = await tokenized(model, inputs, areNumbers);
  const studied = [];
  for (const [at, { text, place }] of inputs.entries()) {
    const sentence = sentences[at] as Sentence;
    const { ids } = sentence;
    const excludedRows = await inPlace(place, () => {
      if (byMeans) fitsMeans(model, ids.length, way);
      // By mechanism, the rows before those that have means are excluded.
      if (way === 'mechanism') return ids.map((_, row) => row).slice(0, model.markers.before);
      return excludedIn(request.excludedRows, model, ids.length);
    });
    studied.push({ ...(!areNumbers && { text }), ...sentence, excludedRows });
  }
  const corpusSentences = byMeans ? await corpusOf(model, way, corpus, areNumbers) : undefined;
  const means = byMeans
    ? await model.corpusMeans({
        layers: Math.max(...(layers ?? [0])),
        scores: way === 'mechanism',
        ...(corpusSentences && { sentences: corpusSentences }),
        signal,
        done: (fraction) => progress(`means over the corpus: ${Math.round(100 * fraction)} %`),
      })
    : undefined;
  progress();
  return {
    model: name,
    way,
    gauge,
    layers: layers ?? [0],
    sentences: studied,
    hasTerms: request.head !== undefined,
    places: inputs.map(({ place }) => place),
    only,
    means,
    signal,
  };
}

/** Runs a study and writes it; returns what a file holds. */
async function written(model: OpenedModel, run: StudyRun, output: Output): Promise<string> {
  const { sentences } = run;
  const { format, file } = output;
  if (format !== 'text' && format !== 'json') {
    // The other formats have no place for this sentence.
    for (const [at, sentence] of sentences.entries())
      if (sentence.dropped > 0) say(`${run.places[at]}${truncation(sentence)}`);
  }
  let last: Piece | undefined;
  const pieces = watched(piecesOf(model, run), run, (piece) => {
    last = piece;
  });
  const writers = {
    text: textStudy,
    csv: csvStudy,
    json: jsonStudy,
    npy: npyStudy,
    safetensors: safetensorsStudy,
  };
  try {
    await deliver(output, writers[format](run, pieces));
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    const isWhole = last?.layer === run.layers.at(-1);
    const finished = last ? last.sentence + (isWhole ? 1 : 0) : 0;
    const end =
      last && !isWhole
        ? `The answer ends with layer ${last.layer} of sentence ${last.sentence}, whose other layers are missing`
        : 'The answer ends there';
    throw new Interrupted(
      error.exitCode,
      `Interrupted after ${finished} of ${sentences.length} sentences. ${file === undefined ? end : `${file} was not written`}.`,
    );
  }
  const summary = last ? contentOf(run, last, output) : '';
  if (file === undefined && format === 'npy') say(summary);
  return file === undefined ? '' : `${summary}\n`;
}

/** Yields the pieces of a study, and reports how far it has got. */
async function* watched(
  pieces: AsyncIterable<Piece>,
  { sentences, layers }: Study,
  visit: (piece: Piece) => void,
): AsyncGenerator<Piece> {
  const tenth = tenthsOf(sentences.length);
  const count = sentences.length * layers.length;
  let done = 0;
  for await (const piece of pieces) {
    visit(piece);
    yield piece;
    done += 1;
    const finished = Math.floor(done / layers.length);
    const line = `${finished} of ${sentences.length} sentences`;
    if (count > 1) progress(`${line}, ${Math.floor((100 * done) / count)} %`);
    tenth(finished, `${line}.`);
  }
  progress();
}

/** Says what a file holds: the axes of its arrays, or what its rows are. */
function contentOf(study: Study, { scores }: Piece, { format, file }: Output): string {
  const { layers, sentences } = study;
  const of = [
    counted(sentences.length, 'sentence'),
    counted(layers.length, 'layer'),
    counted(scores.heads.length, 'head'),
  ].join(' by ');
  const begin = file === undefined ? '' : `${file}: `;
  if (format !== 'npy') return `${begin}${of}.`;
  const name = study.hasTerms ? 'terms' : 'shares';
  return `${begin}${name} [${shapeOf(name, study, scores, scores.n).join(', ')}] by ${axes[name].join(', ')}; parts are ${scores.parts.join(', ')}.`;
}

/** Returns the sentences to compute means over; undefined for those of the library. */
async function corpusOf(
  { readsText, name, layers }: OpenedModel,
  way: Way,
  corpus: string | undefined,
  areNumbers: boolean,
): Promise<(string | { ids: number[] })[] | undefined> {
  // A file without layers is refused by the library, with or without a corpus.
  if (corpus === undefined && !readsText && layers > 0)
    throw new Refusal(
      `--way ${way}, by which this ${name} is taken apart, needs means over a corpus, and no tokenizer.json is beside the weights to cut texts with. Give one in numbers: --corpus FILE, a sentence a line, such as 101,2023,102; or choose --way direct or streams, which need none.`,
    );
  if (corpus === undefined) return undefined;
  const lines = await linesOf('--corpus', corpus);
  return lines.map(({ text }) => (areNumbers ? idsOf('--corpus', text) : text));
}

/** Refuses sentences with more positions than have a mean over the corpus: see corpusMeans(). */
function fitsMeans(
  { positions, markers: { before, after } }: Pick<OpenedModel, 'positions' | 'markers'>,
  tokens: number,
  way: Way,
): void {
  const most = before + Math.min(30, (positions || Infinity) - before - after);
  if (tokens > most) {
    throw new Refusal(
      `--way ${way} takes at most ${most} tokens, for as many positions have a mean, and got ${tokens}.`,
    );
  }
}
