// What a model expects as the next token: its last rows times the rows of its head, which are those of the token table
// unless config.json says otherwise. The head is read block by block: it may be the largest tensor of the file.
import * as check from '../check.js';
import { type FloatsOf, type Precision, type Table, table } from '../table.js';
import { present, shaped } from './checkpoint.js';
import { type Opened, rowsThrough, tensorsOf } from './firstLayer.js';
import type { Config } from './headerTensors.js';
import { type LayersPassed, layerByLayer } from './layerByLayer.js';
import type { Layout } from './layout.js';
import { insides, type ModelInput, type OpenedModel } from './openModel.js';
import type { Sentence } from './sentence.js';
import { counted, type SlicesWatch } from './slices.js';

export interface NextTokenOptions<P extends Precision = 'float32'> extends SlicesWatch {
  /** Default float32. */
  precision?: P;
  /** After which token, from 0. Default the last. */
  row?: number;
}

/** What is expected after a token of a sentence. */
export interface NextToken {
  /** The sentence that was run. */
  readonly sentence: Sentence;
  /** After which of its tokens. */
  readonly row: number;
  /** [vocabulary], capped where config.json gives them a cap (final_logit_softcapping). */
  readonly logits: Float64Array;
  /** [vocabulary], their softmax. */
  readonly probabilities: Float64Array;
  /** The texts of tokens; their numbers where there is no tokenizer.json. */
  pieces(ids: readonly number[]): string[];
}

/**
 * What an opened model expects after a token of the input: the whole distribution. One layer at a time is in memory, and
 * none stays. Throws as its forward() does, and RangeError for a family that predicts no next token.
 */
export async function nextToken<P extends Precision = 'float32'>(
  model: OpenedModel,
  input: ModelInput,
  { precision, row, ...watching }: NextTokenOptions<P> = {},
): Promise<NextToken> {
  const inside = typeof model === 'object' && model !== null ? insides.get(model) : undefined;
  if (!inside) return check.refuse('model', 'what openModel() returned', model, false);
  const { layout } = inside;
  if (!layout.head) throw new RangeError(`${layout.name} predicts no next token.`);
  const kind = check.precision(precision ?? 'float32') as P;
  const sentence = await inside.read(input);
  const { length } = sentence.ids;
  const asked = check.integer('row', row ?? length - 1, 0, length - 1);
  const head = headIn(inside);
  const [passed] = await layerByLayer<P>(model, [sentence], { precision: kind, ...watching });
  const { data, columns } = (passed as LayersPassed<FloatsOf<P>>).last;
  const last = table(data.slice(asked * columns, (asked + 1) * columns) as FloatsOf<P>, 1, columns);
  const found = await expectedAfter(inside, head, last, kind, watching);
  const tokenizer = model.readsText ? await inside.tokenizer() : undefined;
  const pieces = (ids: readonly number[]) => {
    check.integers('ids', ids, layout.vocabulary - 1);
    return tokenizer ? tokenizer.pieces(ids) : ids.map(String);
  };
  return { sentence, row: asked, ...found, pieces };
}

/** How many numbers of the head are in memory at once. */
const blockOf = 2 ** 21;

/** `last` is one row [1, d] after the final norm. */
async function expectedAfter<P extends Precision>(
  { superpose, checkpoint, layout }: Pick<Opened, 'superpose' | 'checkpoint' | 'layout'>,
  { name, out }: HeadNames,
  last: Table<FloatsOf<P>>,
  precision: P,
  watching: SlicesWatch,
): Promise<Pick<NextToken, 'logits' | 'probabilities'>> {
  const watch = counted(watching);
  let weight = last;
  if (out !== undefined) {
    const linear = await tensorsOf(checkpoint, precision, watch).linear({ weight: out });
    weight = rowsThrough(superpose, last, linear, precision);
  }
  const count = layout.vocabulary;
  const { cap } = layout.head as NonNullable<Layout['head']>;
  const uncapped = new Float64Array(count);
  const rows = Math.max(1, Math.floor(blockOf / weight.columns));
  for (let from = 0; from < count; from += rows) {
    watch.signal?.throwIfAborted();
    const places = Array.from({ length: Math.min(rows, count - from) }, (_, row) => from + row);
    const block = await checkpoint.rows(name, places, precision, watch);
    uncapped.set(rowsThrough(superpose, block, { weight }, precision).data, from);
  }
  const row = table(uncapped, 1, count);
  const logits = cap === undefined ? row : superpose.softCap(row, cap);
  return { logits: logits.data, probabilities: superpose.softmax(logits).data };
}

/** The tensors between the last rows and the logits. */
interface HeadNames {
  /** [vocabulary, width] */
  name: string;
  /** [width, d], where the last rows are mapped to another width. */
  out?: string;
}

/** Throws where the file has no such tensor. */
function headIn({
  checkpoint,
  layout,
  config,
}: Pick<Opened, 'checkpoint' | 'layout'> & { config: Config }): HeadNames {
  const { name = 'lm_head.weight', projection, tied } = layout.head as NonNullable<Layout['head']>;
  // As wide as the rows of the table that it shares, or might.
  const width =
    projection === undefined
      ? layout.d_model
      : (present(checkpoint, layout.token as string).shape[1] as number);
  const out = projection !== undefined && { out: shaped(checkpoint, projection, [width, layout.d_model]) };
  if (config.tie_word_embeddings ?? tied ?? !checkpoint.tensors.has(name))
    return { name: layout.token as string, ...out };
  if (!checkpoint.tensors.has(name))
    throw new RangeError(
      `config.json says tie_word_embeddings false, but the file has no ${name} [${layout.vocabulary}, ${width}].`,
    );
  return { name: shaped(checkpoint, name, [layout.vocabulary, width]), ...out };
}
