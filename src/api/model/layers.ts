// What few readers of a page ask of a model: its later layers, and its rows after a change. One chunk for both.

import * as check from '../check.js';
import type { Table } from '../table.js';
import type { Superpose } from '../whole.js';
import { changedRows } from './changedPositions.js';
import { type CorpusMeans, corpusOf } from './corpusMeans.js';
import { type Found, type Opened, type OwnRows, rowsOf, summandNames } from './firstLayer.js';
import { type LayeredFunctions, layeredModel } from './layeredModel.js';
import type { ModelInput, OpenCorpusMeansOptions, OpenedModel } from './openedModel.js';
import { headsOf, ownLayers } from './ownLayers.js';
import { resident } from './resident.js';
import type { Sentence } from './sentence.js';
import { counted } from './watch.js';

/** How many pieces of a sentence a window of the default corpus has. */
const windowOf = 30;

/** How a model’s texts and ids become sentences. */
interface Reading extends Pick<OpenedModel, 'tokenize'> {
  /** A text is cut, ids are checked. */
  read(input: ModelInput): Promise<Sentence>;
}

/** A model whose layers can be run, and freed. */
export interface Layers extends Omit<LayeredFunctions, 'corpusMeans'> {
  /** See OpenedModel. */
  corpusMeans(inputs: Reading, options: OpenCorpusMeansOptions): Promise<CorpusMeans>;
  /** Frees them. */
  delete(): void;
}

/** Throws where the file lacks what the first layer needs. */
export function layersOf(found: Found, opened: Opened, superpose: Superpose): Layers {
  const { layers, isSmall } = found;
  const { layout } = opened;
  const kept = resident(ownLayers(opened, superpose, !isSmall));
  const { d_head, keyHeads } = headsOf(opened);
  const run = layeredModel({
    superpose,
    resident: kept,
    d_model: layout.d_model,
    summands: summandNames(layout),
    heads: opened.heads,
    projections: { query: opened.heads * d_head, key: keyHeads * d_head },
    layers,
    apart: layout.apart,
    ahead: isSmall,
    rows: (sentence, signal) => rowsOf(found, sentence.ids, counted({ signal })),
    changed: (sentence, change) => changedOf(found, sentence, change),
  });
  return {
    ...run,
    corpusMeans: (inputs, options) =>
      run.corpusMeans(() => corpusIn(opened, inputs, options), {
        scores: layout.tables.position === undefined,
        ...options,
      }),
    delete: kept.delete,
  };
}

/** A sentence’s rows after a change. */
export async function changedOf(
  parts: Found,
  { ids }: Sentence,
  change: Parameters<OpenedModel['changed']>[1],
): Promise<OwnRows> {
  const { layout, facts } = parts;
  const { position } = layout.tables;
  if (!position)
    throw new RangeError(`${facts.name} adds no positions to its tokens, so there are none to change.`);
  const { firstPosition = 0 } = facts;
  const rows = await rowsOf(parts, ids, counted({}));
  const places = (list: readonly number[]) =>
    parts.rows(
      position,
      list.map((place) => place + firstPosition),
      counted({}),
    );
  const [of, at] = [rows.token, rows.position] as [Table<Float64Array>, Table<Float64Array>];
  return { ...rows, ...(await changedRows(of, at, change, places, layout.positions, layout.apart.length)) };
}

async function corpusIn(
  { checkpoint, layout: { facts, positions } }: Opened,
  { tokenize, read }: Reading,
  { sentences, signal }: OpenCorpusMeansOptions,
) {
  const all = sentences ?? (await import('./corpus.js')).corpusSentences;
  if (!Array.isArray(all)) check.refuse('sentences', 'a list of texts', all, false);
  const ids: (readonly number[])[] = [];
  for (const one of all)
    ids.push(typeof one === 'string' ? (await tokenize(one)).ids : (await read(one)).ids);
  if (!sentences) await checkpoint.corpusRows?.(ids.flat(), { signal });
  const { before, after } = facts.markers;
  const most = (positions || Infinity) - before - after;
  return corpusOf(ids, { positions: Math.min(windowOf, most), before, after });
}
