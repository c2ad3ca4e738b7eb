// What few readers of a page ask of a model, one chunk for all: its layers, which run in the whole module, and its rows
// after a change.
import * as check from '../check.js';
import type { Scores } from '../scores/scores.js';
import { type Table, table } from '../table.js';
import type { Superpose } from '../whole.js';
import { type CorpusMeans, corpusOf, meansAt, meansOver, scoreMeansAt } from './corpusMeans.js';
import {
  excludedIn,
  longestOf,
  type Model,
  type Opened,
  type OwnRows,
  rowsOf,
  summandNames,
} from './firstLayer.js';
import { checkedParts } from './forwardPass.js';
import type {
  ModelInput,
  OpenCorpusMeansOptions,
  OpenDecomposeOptions,
  OpenedModel,
  OpenForwardOptions,
  PositionChange,
  PositionsTaken,
} from './openedModel.js';
import { headsOf, ownLayers } from './ownLayers.js';
import { type Resident, resident } from './resident.js';
import { corpusIds, type Sentence } from './sentence.js';
import type { ForwardInput, ForwardPass, TransformerStack } from './transformerStack.js';
import { counted, type SlicesWatch } from './watch.js';

/** How many pieces of a sentence a window of the default corpus has. */
const windowOf = 30;

/** How a model’s texts and ids become sentences. */
interface Reading extends Pick<OpenedModel, 'tokenize'> {
  /** A text is cut, ids are checked. */
  read(input: ModelInput): Promise<Sentence>;
}

type ScoresOptions = OpenDecomposeOptions & { layer: number };

/** The forward of a transformer stack's last decomposition, and of which tokens it is. */
type Decomposed = WeakMap<object, { key: string; run: ForwardPass }>;

interface Running {
  opened: Opened;
  resident: Resident;
  decomposed: Decomposed;
}

/** The layers of a model, which can be run, and freed: see OpenedModel. */
export type Layers = ReturnType<typeof layersOf>;

/** Throws where the file lacks what the first layer needs. */
export function layersOf(opened: Opened, superpose: Superpose) {
  const kept = resident(ownLayers(opened, superpose));
  const running = { opened, resident: kept, decomposed: new WeakMap() };
  const forward = async (sentence: Sentence, options: OpenForwardOptions) => {
    const { summands, signal, progress, ...input } = options;
    const layers = check.integer('layers', input.layers ?? opened.layers, 0, opened.layers);
    return kept.use(layers, counted({ signal, progress }), async (stack) => {
      const rows = summands ?? (await rowsOf(opened, sentence.ids, counted({ signal })));
      running.decomposed.delete(stack);
      const run = await stack.forward(rows, { ...input, layers, signal });
      return Object.assign(run, { sentence });
    });
  };
  return {
    forward,
    decompose: (sentence: Sentence, options: ScoresOptions) => decomposed(running, sentence, options),
    async corpusMeans(inputs: Reading, { done, signal, progress, ...options }: OpenCorpusMeansOptions) {
      const { layout, heads } = opened;
      const scores = check.flag('scores', options.scores ?? layout.tables.position === undefined);
      const { d_head, keyHeads } = headsOf(opened);
      return meansOver(await corpusIn(opened, inputs, options), {
        ...{ poolShares: superpose.poolShares, heads, layers: opened.layers },
        ...{ excludedRows: layout.excludedRows, signal, done },
        ...(scores && { scores: { query: heads * d_head, key: keyHeads * d_head } }),
        run(sentence, isWindow) {
          const asked = { scores: !isWindow, projections: scores && isWindow };
          return forward(sentence, { ...asked, signal, progress });
        },
      });
    },
    async withoutPositions(sentence: Sentence, options: SlicesWatch = {}) {
      const { signal, progress } = options;
      // All layers in one turn, since a forward is valid until the next.
      return kept.use(opened.layers, counted({ signal, progress }), async (stack) => {
        running.decomposed.delete(stack);
        const rows = await rowsOf(opened, sentence.ids, counted({ signal }));
        const bare = await changedOf(opened, sentence, { mean: 'sentence' });
        return positionsTaken(stack, { rows, bare }, signal);
      });
    },
    delete: kept.delete,
  };
}

/** The scores of a layer. What is asked of it is checked before layers are read, which may take long. */
async function decomposed(
  running: Running,
  sentence: Sentence,
  options: ScoresOptions,
): Promise<Scores & { sentence: Sentence }> {
  const { opened, resident } = running;
  const { means: given, signal, progress, gauge, excludedRows, ...input } = options;
  const layer = check.integer('layer', input.layer, 0, opened.layers - 1);
  check.chosenHeads(input.only, opened.heads);
  checkedParts(summandNames(opened.layout), input);
  const byMechanism = input.way === 'mechanism';
  const byMeans = byMechanism || input.way === 'mean';
  if (byMeans && given === undefined) throw meansMissing(opened, byMechanism);
  // What corpusMeans() gives has more than these means.
  if (given || byMeans)
    check.knownOptions('means', given as CorpusMeans, {
      windows: true,
      states: true,
      heads: true,
      sentencesOfHeads: true,
      scores: true,
    });
  const means = given && (byMechanism ? scoreMeansAt : meansAt)(given, layer);
  return resident.use(layer + 1, counted({ signal, progress }), async (stack) => {
    const run = await through(running, stack, layer, sentence, signal);
    // By mechanism the means say which rows are excluded.
    const rows = excludedRows ?? (byMechanism ? undefined : excludedIn(opened.layout, run.n));
    const scores = run.decompose({
      ...input,
      ...(gauge !== undefined && { gauge }),
      ...(rows !== undefined && { excludedRows: rows }),
      ...(means && { means }),
    });
    return { ...scores, sentence };
  });
}

/** Says how to get them. */
function meansMissing({ layout, readsText }: Opened, byMechanism: boolean): TypeError {
  const { name } = layout.facts;
  const [way, of] = byMechanism ? ['mechanism', 'queries and keys'] : ['mean', 'states'];
  const options = [readsText ? '' : 'sentences', byMechanism ? 'scores: true' : ''].filter((one) => one);
  const given = options.length > 0 ? `{ ${options.join(', ')} }` : '';
  const sentences = readsText
    ? ''
    : ' Without tokenizer.json, sentences are lists of ids: [{ ids: [101, 2023, 102] }].';
  return new TypeError(
    `The way '${way}' needs the means of ${name}’s ${of} over a corpus. Gather them first: const means = await model.corpusMeans(${given}); await model.decompose(input, { way: '${way}', means }).${sentences}`,
  );
}

/** The forward whose scores are taken apart; the last one, if it is of the same tokens. */
async function through(
  { opened, decomposed }: Running,
  stack: TransformerStack,
  layer: number,
  sentence: Sentence,
  signal: AbortSignal | undefined,
) {
  const key = String(sentence.ids);
  const last = decomposed.get(stack);
  if (last?.key === key && last.run.layers > layer) return last.run;
  const rows = await rowsOf(opened, sentence.ids, counted({ signal }));
  decomposed.delete(stack);
  // Through all layers that are held where there is room, so that another layer’s scores need no run of their own.
  const layers = opened.isSmall ? stack.layers : layer + 1;
  const run = await stack.forward(rows, { layers, signal });
  decomposed.set(stack, { key, run });
  return run;
}

/** A sentence’s rows after a change. */
export async function changedOf(model: Model, { ids }: Sentence, change: PositionChange): Promise<OwnRows> {
  check.knownOptions('change', change, { mean: true, shift: true, order: true });
  const { checkpoint, layout } = model;
  const { facts } = layout;
  const { position } = layout.tables;
  if (!position)
    throw new RangeError(`${facts.name} adds no positions to its tokens, so there are none to change.`);
  const { firstPosition = 0 } = facts;
  const rows = await rowsOf(model, ids, counted({}));
  const places = (list: readonly number[]) =>
    checkpoint.rows(
      position,
      list.map((place) => place + firstPosition),
      counted({}),
    );
  const [of, at] = [rows.token, rows.position] as [Table<Float64Array>, Table<Float64Array>];
  return {
    ...rows,
    ...(await changedRows(of, at, change, places, layout.positions, layout.excludedRows.length)),
  };
}

async function corpusIn(opened: Opened, { tokenize, read }: Reading, { sentences }: OpenCorpusMeansOptions) {
  const { checkpoint, layers } = opened;
  const { facts, tables } = opened.layout;
  if (!sentences && !opened.readsText)
    throw new RangeError(
      'corpusMeans() has texts, for which there is no tokenizer.json beside the weights. Put it there, or give sentences of ids: { sentences: [{ ids: [101, 2023, 102] }] }.',
    );
  const all = sentences ?? (await import('./corpus.js')).corpusSentences;
  if (!Array.isArray(all)) check.refuse('sentences', 'a list of texts', all, false);
  const ids: (readonly number[])[] = [];
  for (const one of all)
    ids.push(typeof one === 'string' ? (await tokenize(one)).ids : (await read(one)).ids);
  if (!sentences) checkpoint.together(tables.token, corpusIds(ids));
  const { before, after } = facts.markers;
  const most = (longestOf(opened, layers) || Infinity) - before - after;
  return corpusOf(ids, { positions: Math.min(windowOf, most), before, after });
}

/** What positions are for. `rows` are the sentence’s, `bare` those without positions. */
async function positionsTaken(
  stack: TransformerStack,
  { rows, bare }: { rows: OwnRows; bare: OwnRows },
  signal: AbortSignal | undefined,
): Promise<PositionsTaken> {
  const attentionOf = (run: ForwardPass): Record<number, Float64Array> =>
    Object.fromEntries(Array.from({ length: stack.layers }, (_, layer) => [layer, run.attention(layer)]));
  const run = async (summands: OwnRows, input: ForwardInput) =>
    (await stack.forward(summands, { scores: false, signal, ...input })).embeddings;
  const plain = await stack.forward(rows, { signal });
  const [nothing, own] = [plain.embeddings, attentionOf(plain)];
  const without = await stack.forward(bare, { signal });
  const [everything, other] = [without.embeddings, attentionOf(without)];
  return {
    nothing,
    allButAttention: await run(bare, { attention: own }),
    attention: await run(rows, { attention: other }),
    everything,
  };
}

type Rows = Table<Float64Array>;

/** Both tables [n, d] after a change. The model fixes so many tokens at the beginning. */
async function changedRows(
  token: Rows,
  position: Rows,
  change: PositionChange,
  rowsOf: (rows: readonly number[]) => Promise<Rows>,
  positions: number,
  fixed: number,
): Promise<{ token: Rows; position: Rows }> {
  const { rows: n, columns: d } = position;
  if ('order' in change) {
    const order = check.integers('order', change.order, n - 1, n);
    check.once('order', order);
    return { token: picked(token, order), position };
  }
  if ('shift' in change) {
    const by = check.integer('shift', change.shift, 0, positions - n);
    const places = Array.from({ length: n }, (_, row) => (row < fixed ? row : row + by));
    return { token, position: await rowsOf(places) };
  }
  const kind = check.oneOf('mean', change.mean, ['sentence', 'table']);
  const among =
    kind === 'sentence'
      ? table(position.data.subarray(fixed * d), n - fixed, d)
      : await rowsOf(Array.from({ length: positions }, (_, row) => row));
  const mean = meanRow(among);
  const data = position.data.slice();
  for (let row = kind === 'table' ? 0 : fixed; row < n; row++) data.set(mean, row * d);
  return { token, position: table(data, n, d) };
}

function picked({ data, rows, columns }: Rows, order: readonly number[]): Rows {
  const moved = data.slice();
  order.forEach((from, to) => {
    moved.set(data.subarray(from * columns, (from + 1) * columns), to * columns);
  });
  return table(moved, rows, columns);
}

function meanRow({ data, rows, columns }: Rows): Float64Array {
  const mean = new Float64Array(columns);
  for (let at = 0; at < rows * columns; at++)
    mean[at % columns] = (mean[at % columns] as number) + (data[at] as number);
  return mean.map((sum) => sum / rows);
}
