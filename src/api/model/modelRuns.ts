// Runs a model's layers in the full module: forward passes, decompositions of their scores, and means over a
// corpus. Pages fetch this file and what it imports when a reader first asks for more than the first layer's
// scores.
import * as check from '../check.js';
import type { Superpose } from '../fullModule.js';
import type { Scores } from '../scores/scores.js';
import { type CorpusMeans, corpusOf, meansAt, meansOver, scoreMeansAt } from './corpusMeans.js';
import { checkedParts, internalsOf, type PassInternals } from './forwardPass.js';
import { headSizes, layerSource } from './layers.js';
import { excludedIn, longestOf, type RunnableModel, rowsOf, summandNames } from './model.js';
import type { OpenCorpusMeansOptions, OpenDecomposeOptions, OpenForwardOptions } from './openedModel.js';
import { changedRows, positionsRemoved } from './positionChanges.js';
import { corpusIds, type Sentence, type SentenceReader } from './sentences.js';
import { type SharedStack, sharedStack } from './sharedStack.js';
import type { ForwardPass, TransformerStack } from './transformerStack.js';
import { counted, type SlicesWatch } from './watch.js';

export { changedRows };

/** How many tokens a window of the corpus has between its special tokens. */
const windowLength = 30;

type ScoresOptions = OpenDecomposeOptions & { layer: number };

/** The forward pass of a stack's last decomposition, and the tokens that it ran on. */
type LastDecomposed = WeakMap<TransformerStack, { key: string; forward: ForwardPass }>;

interface Running {
  model: RunnableModel;
  stack: SharedStack;
  lastDecomposed: LastDecomposed;
}

/** The runs of a model; see OpenedModel. delete() frees its layers. */
export type ModelRuns = ReturnType<typeof modelRuns>;

/** Throws RangeError if the file lacks what the first layer needs. */
export function modelRuns(model: RunnableModel, superpose: Superpose) {
  const stack = sharedStack(layerSource(model, superpose));
  const running: Running = { model, stack, lastDecomposed: new WeakMap() };
  /**
   * Runs a sentence. `read` takes what it needs from the pass, and may decompose the scores of the layers
   * `decomposed`.
   */
  const run = async <T>(
    sentence: Sentence,
    options: OpenForwardOptions,
    decomposed: readonly number[],
    read: (pass: ForwardPass) => T | Promise<T>,
  ): Promise<T> => {
    const { summands, signal, progress, ...input } = options;
    const layers = check.integer('layers', input.layers ?? model.layers, 0, model.layers);
    const needed = [
      ...firstLayers(input.projections ? Math.min(layers + 1, model.layers) : layers),
      ...decomposed,
    ];
    const watch = counted({ signal, progress });
    return stack.use(
      () => needed,
      watch,
      async (transformer) => {
        const rows = summands ?? (await rowsOf(model, sentence.ids, counted({ signal })));
        running.lastDecomposed.delete(transformer);
        return read(await transformer.forward(rows, { ...input, layers, signal }));
      },
    );
  };
  return {
    forward: (sentence: Sentence, options: OpenForwardOptions) =>
      run(sentence, options, [], (pass) => Object.assign(pass, { sentence })),
    decompose: (sentence: Sentence, options: ScoresOptions) => decomposed(running, sentence, options),
    async corpusMeans(
      sentences: SentenceReader,
      { done, signal, progress, ...options }: OpenCorpusMeansOptions,
    ) {
      const { layout, heads } = model;
      const layers = check.integer('layers', options.layers ?? model.layers, 0, model.layers);
      const isRotary = layout.descriptor.positions.kind === 'rotary';
      const scores = check.flag('scores', options.scores ?? isRotary);
      const { d_head, keyHeads } = headSizes(model);
      const scoreLayers = Math.min(layers + 1, model.layers);
      return meansOver(await corpusIn(model, sentences, { ...options, layers }), {
        poolShares: superpose.poolShares,
        heads,
        layers,
        excludedRows: layout.excludedRows,
        signal,
        done,
        ...(scores && { scores: { layers: scoreLayers, query: heads * d_head, key: keyHeads * d_head } }),
        runWindow: (window, read) =>
          run(window, { layers, scores: false, projections: scores, signal, progress }, [], read),
        runSentence: (sentence, read) =>
          run(sentence, { layers, signal, progress }, firstLayers(layers), read),
      });
    },
    async withoutPositions(sentence: Sentence, { signal, progress }: SlicesWatch = {}) {
      // All passes run in one turn, because a pass is valid only until the next one.
      const all = firstLayers(model.layers);
      return stack.use(
        () => [...all, ...all, ...all, ...all],
        counted({ signal, progress }),
        async (transformer) => {
          running.lastDecomposed.delete(transformer);
          const rows = await rowsOf(model, sentence.ids, counted({ signal }));
          const bare = await changedRows(model, sentence, { mean: 'sentence' });
          return positionsRemoved(transformer, { rows, bare }, signal);
        },
      );
    },
    delete: stack.delete,
  };
}

/**
 * Decomposes the scores of a layer. The options are checked before layers are read, because reading may take
 * long.
 */
async function decomposed(
  running: Running,
  sentence: Sentence,
  options: ScoresOptions,
): Promise<Scores & { sentence: Sentence }> {
  const { model, stack } = running;
  const { means: corpusMeans, signal, progress, gauge, excludedRows, ...input } = options;
  const layer = check.integer('layer', input.layer, 0, model.layers - 1);
  check.chosenHeads(input.only, model.heads);
  checkedParts(summandNames(model.layout), input);
  const isByMechanism = input.way === 'mechanism';
  const needsMeans = isByMechanism || input.way === 'mean';
  if (needsMeans && corpusMeans === undefined) throw meansMissing(model, layer, isByMechanism);
  // The result of corpusMeans() has more members than the two that are used here.
  if (corpusMeans || needsMeans) {
    check.knownOptions('means', corpusMeans as CorpusMeans, {
      windows: true,
      states: true,
      heads: true,
      sentencesOfHeads: true,
      scores: true,
    });
  }
  const means = corpusMeans && (isByMechanism ? scoreMeansAt : meansAt)(corpusMeans, layer);
  const needed = (transformer: TransformerStack | undefined) => [
    ...(passOf(running, transformer, layer, sentence) ? [] : firstLayers(layer + 1)),
    // For the way `streams`, the layers before it are needed again.
    ...(input.way === 'streams' ? firstLayers(layer + 1) : [layer]),
  ];
  return stack.use(needed, counted({ signal, progress }), async (transformer) => {
    const forward = await passThrough(running, transformer, layer, sentence, signal);
    // For the way `mechanism`, the means say which rows are excluded.
    const rows = excludedRows ?? (isByMechanism ? undefined : excludedIn(model.layout, forward.n));
    const pass = internalsOf.get(forward) as PassInternals;
    const scores = await pass.decompose({
      ...input,
      ...(gauge !== undefined && { gauge }),
      ...(rows !== undefined && { excludedRows: rows }),
      ...(means && { means }),
    });
    return { ...scores, sentence };
  });
}

const firstLayers = (count: number) => Array.from({ length: count }, (_, layer) => layer);

/** The error that says how to get the means of a corpus. */
function meansMissing(
  { layout, readsText }: RunnableModel,
  layer: number,
  isByMechanism: boolean,
): TypeError {
  const { name } = layout.descriptor;
  const [way, averaged] = isByMechanism ? ['mechanism', 'queries and keys'] : ['mean', 'states'];
  const options = [
    `layers: ${layer}`,
    ...(readsText ? [] : ['sentences']),
    ...(isByMechanism ? ['scores: true'] : []),
  ];
  const advice = readsText
    ? ''
    : ' Without tokenizer.json, sentences are lists of ids: [{ ids: [101, 2023, 102] }].';
  return new TypeError(
    `The way '${way}' needs the means of ${name}’s ${averaged} over a corpus. Gather them first: const means = await model.corpusMeans({ ${options.join(', ')} }); await model.decompose(input, { layer: ${layer}, way: '${way}', means }). The ways 'direct' and 'streams' need none.${advice}`,
  );
}

/** The forward pass of the last decomposition, if it ran on the same tokens through this layer. */
function passOf(
  { lastDecomposed }: Running,
  transformer: TransformerStack | undefined,
  layer: number,
  { ids }: Sentence,
): ForwardPass | undefined {
  const last = transformer && lastDecomposed.get(transformer);
  return last?.key === String(ids) && last.forward.layers > layer ? last.forward : undefined;
}

/**
 * The forward pass whose scores are decomposed: the last one if it ran on these tokens, or else a new one.
 */
async function passThrough(
  running: Running,
  transformer: TransformerStack,
  layer: number,
  sentence: Sentence,
  signal: AbortSignal | undefined,
): Promise<ForwardPass> {
  const { model, lastDecomposed } = running;
  const last = passOf(running, transformer, layer, sentence);
  if (last) return last;
  const rows = await rowsOf(model, sentence.ids, counted({ signal }));
  lastDecomposed.delete(transformer);
  // A small model runs through all layers that are in memory, so that the scores of another layer need no
  // pass of their own.
  const layers = model.isSmall ? Math.max(layer + 1, transformer.layers) : layer + 1;
  const forward = await transformer.forward(rows, { layers, signal });
  lastDecomposed.set(transformer, { key: String(sentence.ids), forward });
  return forward;
}

/** The corpus, cut into windows. */
async function corpusIn(
  model: RunnableModel,
  { tokenize, read }: SentenceReader,
  { sentences, layers }: Pick<OpenCorpusMeansOptions, 'sentences'> & { layers: number },
) {
  const { checkpoint, layout } = model;
  if (!sentences && !model.readsText) {
    throw new RangeError(
      'The default sentences of corpusMeans() are texts, and there is no tokenizer.json beside the weights. Put it there, or pass sentences of ids: { sentences: [{ ids: [101, 2023, 102] }] }.',
    );
  }
  const inputs = sentences ?? (await import('./corpus.js')).corpusSentences;
  if (!Array.isArray(inputs)) check.refuse('sentences', 'a list of texts', inputs, false);
  const ids: (readonly number[])[] = [];
  for (const input of inputs) {
    ids.push((typeof input === 'string' ? await tokenize(input) : await read(input)).ids);
  }
  if (!sentences) checkpoint.useCorpusRows(layout.tables.token, corpusIds(ids));
  const { before, after } = layout.descriptor.markers;
  const most = (longestOf(model, layers) || Infinity) - before - after;
  return corpusOf(ids, { positions: Math.min(windowLength, most), before, after });
}
