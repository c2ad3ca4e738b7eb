// A study: the scores of some sentences in some layers and heads, and the terms of each score, computed one
// piece after another.
import type { CorpusMeans, OpenedModel, Scores, Sentence, Way } from 'add-or-concatenate';
import { groupsOf } from '../../figures/terms.js';
import { turn } from './interrupted.js';
import { inPlace } from './sentences.js';

/** A sentence of a study. */
export interface StudySentence extends Sentence {
  /** The text as it was given; undefined where numbers were. */
  readonly text?: string;
  /** The rows that its shares leave out. */
  readonly excludedRows: readonly number[];
}

/** What is decomposed, and the options that the numbers depend on. */
export interface Study {
  /** The name of the model. */
  readonly model: string;
  /** The way to split the scores; undefined for the first layer in three parts. */
  readonly way: Way | undefined;
  readonly gauge: 'canonical' | 'raw';
  /** The layers, in the order of the arrays. */
  readonly layers: readonly number[];
  readonly sentences: readonly StudySentence[];
  /** Whether every score and its terms are written, and not shares alone. */
  readonly hasTerms: boolean;
}

/** The scores of one sentence in one layer. */
export interface Piece {
  /** The place of the sentence in the study. */
  readonly sentence: number;
  readonly layer: number;
  readonly scores: Scores;
}

export interface StudyRun extends Study {
  /** The beginnings of errors about each sentence, such as “Line 3 of “sentences.txt”: ”. */
  readonly places: readonly string[];
  /** The heads; undefined for all. */
  readonly only: number[] | undefined;
  readonly means: CorpusMeans | undefined;
  readonly signal: AbortSignal;
}

/** The pieces of a study, sentence by sentence and layer by layer, with one forward pass per sentence. */
export async function* piecesOf(model: OpenedModel, run: StudyRun): AsyncGenerator<Piece> {
  const { sentences, layers, way, gauge, only, means, places, signal } = run;
  for (const [sentence, { text: _, excludedRows, ...input }] of sentences.entries()) {
    const gaugeOptions = { gauge, excludedRows, ...(only && { only }) };
    const inSentence = <T>(work: () => T | Promise<T>) => inPlace(places[sentence] ?? '', work);
    await turn(signal);
    if (way === undefined) {
      const groups = groupsOf(model.summands, 0);
      const scores = await inSentence(() => model.decompose(input, { ...gaugeOptions, groups, signal }));
      yield { sentence, layer: 0, scores };
      continue;
    }
    const pass = await inSentence(() => model.forward(input, { layers: Math.max(...layers) + 1, signal }));
    for (const layer of layers) {
      await turn(signal);
      const atLayer = way === 'mechanism' ? means?.scores?.[layer] : means?.states[layer];
      const options = {
        layer,
        way,
        ...(atLayer && { means: atLayer }),
        // By mechanism, the means are the gauge.
        ...(way === 'mechanism' ? only && { only } : gaugeOptions),
      };
      yield { sentence, layer, scores: await inSentence(() => pass.decompose(options)) };
    }
  }
}
