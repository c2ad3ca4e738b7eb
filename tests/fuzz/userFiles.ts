// A reader's own files: tables in every format and models of every family, sound at first, then changed. A
// faulty file must be a RangeError in a sentence; a file that is read must have its shape, and finite
// numbers.
import { readdirSync, readFileSync } from 'node:fs';
import { type CsvOptions, openModel, openTable, type Slices } from 'add-or-concatenate';
import { familyIds } from '../../build/package/model/families.js';
import { plain } from '../api/support/builds.ts';
import { fileOf } from '../api/support/files.ts';
import families from '../reference/families.json' with { type: 'json' };

/** Returns numbers from 0 up to, not including, 1. */
export type Draw = () => number;

export interface Target {
  name: string;
  /** Makes an input and tries it; throws the fault, with the input in its message. */
  once(draw: Draw): void | Promise<void>;
  /** Whether an input is so slow that only a tenth as many are tried. */
  slow?: boolean;
}

export const below = (draw: Draw, count: number) => Math.floor(draw() * count);
export const pick = <T>(draw: Draw, of: readonly T[]): T => of[below(draw, of.length)] as T;

/** A fault that a target found; every other error comes from the reader. */
export class Fault extends Error {}

export function fault(what: string, input: unknown): never {
  throw new Fault(`${what}: ${JSON.stringify(input)?.slice(0, 2000)}`);
}

/** Texts that have broken readers: unpaired surrogates, combining marks, right to left, NUL, BOM, joiners. */
const pieces = [
  ...[
    '\ud83d',
    '\ude00',
    '\ud83d\ude00',
    '\u0301',
    '\u0301'.repeat(40),
    '\u202e',
    '\u200f',
    '\u0000',
    '\ufeff',
  ],
  ...[
    '\u200d',
    '\ufffd',
    '\u2028',
    'שלום',
    'مرحبا',
    '你好',
    'İ',
    'ß',
    'ﬁ',
    '[CLS]',
    '[SEP]',
    '[MASK]',
    '##s',
  ],
  ...[
    'constructor',
    '__proto__',
    'toString',
    'the',
    'bank',
    'zebra',
    '  ',
    '\t',
    '\n',
    '.',
    '"',
    '\\',
    '%',
    '%E0%A4%A',
  ],
  ...['&', '=', '#', '+', '-0', '1e3', '0x40', '9'.repeat(30), '-', '.5', 'yes', 'no', '<b>', '’'],
];

export function textOf(draw: Draw, most = 12): string {
  let text = '';
  for (let count = below(draw, most); count > 0; count--)
    text += draw() < 0.7 ? pick(draw, pieces) : String.fromCharCode(below(draw, 0x10000));
  return text;
}

/** The bytes with up to three changed, inserted or removed, or with the end cut off. */
export function changedBytes(draw: Draw, bytes: Uint8Array, most = 4): Uint8Array {
  let file = bytes;
  for (let changes = below(draw, most); changes > 0; changes--) {
    const at = below(draw, file.length);
    const kind = draw();
    if (kind < 0.5) {
      file = file.slice();
      file[at] = kind < 0.25 ? below(draw, 256) : pick(draw, [...'0123456789"{}[]:,.-e\\']).charCodeAt(0);
    } else if (kind < 0.7) file = file.slice(0, at);
    else if (kind < 0.85)
      file = Uint8Array.of(...file.subarray(0, at), below(draw, 256), ...file.subarray(at));
    else file = Uint8Array.of(...file.subarray(0, at), ...file.subarray(at + 1));
  }
  return file;
}

const slicesOf = (name: string, bytes: Uint8Array): Slices => ({
  name,
  size: bytes.length,
  read: async (offset, length) => bytes.slice(offset, offset + length),
});

/** Checks that an error is a sentence a reader may see, with no internals in it. */
function sentence(error: unknown, input: unknown): void {
  if (error instanceof Fault) throw error;
  const text = error instanceof RangeError || error instanceof TypeError ? error.message : undefined;
  if (
    text === undefined ||
    !/^.{10,2000}\.$/s.test(text) ||
    /(?<! is )\b(?:undefined|NaN)\b|\[object/.test(text)
  )
    fault(`It throws ${String(error)}${(error as Error).stack?.split('\n')[1] ?? ''}`, input);
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const numbersOf = (draw: Draw, count: number) =>
  Array.from({ length: count }, () => Math.fround((draw() - 0.5) * 10 ** (below(draw, 9) - 4)));

/** A word that the format can hold. */
const wordOf = (draw: Draw, without: RegExp, row: number) =>
  textOf(draw, 3)
    .replace(/\p{Surrogate}/gu, '')
    .replace(without, '')
    .slice(0, 20) || `w${row}`;

const beginning = (values: readonly number[], columns: number) => {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  for (const [at, value] of values.entries()) view.setFloat32(4 * at, value, true);
  return { bytes, columns };
};

/** How each format writes a table of these values. */
const writers: Record<
  string,
  (draw: Draw, values: number[], columns: number) => { name: string; bytes: Uint8Array; options?: CsvOptions }
> = {
  npy(draw, values, columns) {
    const { bytes } = beginning(values, columns);
    const version = 1 + below(draw, 3);
    const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${values.length / columns}, ${columns}), }`;
    const header = bytesOf(`${text}\n`);
    const length = version === 1 ? [header.length & 255, header.length >> 8] : [header.length, 0, 0, 0];
    return {
      name: 'table.npy',
      bytes: Uint8Array.of(0x93, ...bytesOf('NUMPY'), version, 0, ...length, ...header, ...bytes),
    };
  },
  csv(draw, values, columns) {
    const separator = pick(draw, [',', ';', '\t'] as const);
    const labelled = draw() < 0.5;
    const rows = Array.from({ length: values.length / columns }, (_, row) =>
      [
        ...(labelled ? [`${wordOf(draw, /[\s,;"\ufeff\d.e+-]/gi, row).replace(/^w?\d*$/, 'w')}-${row}`] : []),
        ...values.slice(row * columns, (row + 1) * columns),
      ].join(separator),
    );
    if (draw() < 0.3)
      rows.unshift(
        rows[0]
          ?.split(separator)
          .map(() => 'name')
          .join(separator) ?? '',
      );
    const name = draw() < 0.5 ? 'table.csv' : 'table.tsv';
    return { name, bytes: bytesOf(rows.join('\n')), options: { separator } };
  },
  safetensors(_, values, columns) {
    const { bytes } = beginning(values, columns);
    const shape = [values.length / columns, columns];
    return { name: 'table.safetensors', bytes: fileOf({ table: { dtype: 'F32', shape, bytes } }) };
  },
};

export const tables: Target = {
  name: 'tables of one’s own',
  async once(draw) {
    const format = pick(draw, Object.keys(writers));
    const [rows, columns] = [1 + below(draw, 4), 1 + below(draw, 4)];
    const values = numbersOf(draw, rows * columns);
    const {
      name,
      bytes: sound,
      options,
    } = (writers[format] as (typeof writers)[string])(draw, values, columns);
    const changes = draw() < 0.2 ? 0 : 4;
    const bytes = changes === 0 ? sound : changedBytes(draw, sound, changes);
    const most = draw() < 0.5 ? 1000 : 1 + below(draw, 3);
    const input = { name, text: new TextDecoder().decode(bytes), bytes: [...bytes] };
    let opened: Awaited<ReturnType<typeof openTable>>;
    try {
      opened = (await openTable(plain, slicesOf(name, bytes), { ...options, rows: most })) as typeof opened;
    } catch (error) {
      if (changes === 0 && !/may (name|be)/.test(String(error)))
        fault(`A sound file is refused: ${String(error)}`, input);
      return sentence(error, input);
    }
    const { table, words, more } = opened;
    if (table.data.length !== table.rows * table.columns || table.rows < 1 || table.columns < 1)
      fault(`A table of ${table.rows} by ${table.columns} with ${table.data.length} numbers`, input);
    if (!table.data.every(Number.isFinite)) fault('Numbers that are not finite', input);
    if (table.rows > most) fault('More rows than were asked for', input);
    if (words && words.length !== table.rows) fault(`${words.length} words for ${table.rows} rows`, input);
    if (changes > 0) return;
    const expected = values.slice(0, table.data.length);
    if (table.rows !== Math.min(rows, most) || table.columns !== columns || more !== rows > most)
      fault('Another shape comes back', input);
    if (table.data.some((value, at) => Math.fround(value) !== expected[at]))
      fault('Other numbers come back', input);
  },
};

const checkpoints = new URL('../reference/checkpoints/', import.meta.url);
const soundModels = readdirSync(checkpoints).map((name) => ({
  name,
  file: new Uint8Array(readFileSync(new URL(`${name}/model.safetensors`, checkpoints))),
  config: readFileSync(new URL(`${name}/config.json`, checkpoints), 'utf8'),
}));

/** What a member of a config may hold in place of the right kind of value. */
const misplaced = [
  null,
  true,
  '12',
  '',
  [],
  {},
  -1,
  0,
  0.5,
  1e308,
  3,
  2 ** 53,
  '__proto__',
  [2],
  { heads: 2 },
];

/** Members that few of the files have. */
const otherMembers = [
  ...['model_type', 'scale_attn_weights', '__proto__', 'rope_scaling', 'layer_types', 'use_sliding_window'],
  ...['sliding_window', 'max_window_layers', 'num_hidden_layers'],
];

function changedConfig(draw: Draw, text: string): string {
  const config = JSON.parse(text) as Record<string, unknown>;
  for (let changes = below(draw, 3); changes > 0; changes--) {
    const members =
      draw() < 0.2 ? (Object.values(config).find((value) => typeof value === 'object') ?? config) : config;
    (members as Record<string, unknown>)[pick(draw, [...Object.keys(config), ...otherMembers])] =
      structuredClone(pick(draw, misplaced));
  }
  const written = draw() < 0.05 ? JSON.stringify(pick(draw, misplaced)) : JSON.stringify(config);
  return draw() < 0.1 ? new TextDecoder().decode(changedBytes(draw, bytesOf(written))) : written;
}

/** Changes the header as a whole: names, shapes, dtypes and the order, in agreement with the data or not. */
function changedHeader(draw: Draw, file: Uint8Array): Uint8Array {
  const entries = [...plain.readSafetensorsHeader(file)];
  const tensors = Object.fromEntries(
    entries.flatMap(([name, { dtype, shape, begin, end }]) => {
      const bytes = file.subarray(begin, end);
      const kind = draw();
      if (kind > 0.06) return [[name, { dtype, shape: [...shape], bytes }]];
      if (kind < 0.01) return [];
      if (kind < 0.02) return [[`${name}.`, { dtype, shape: [...shape], bytes }]];
      if (kind < 0.03) return [[name, { dtype, shape: [...shape].reverse(), bytes }]];
      if (kind < 0.04) return [[name, { dtype, shape: [...shape, 1], bytes }]];
      if (kind < 0.05) return [[name, { dtype, shape: [0, ...shape.slice(1)], bytes: new Uint8Array() }]];
      return [
        [name, { dtype: pick(draw, ['F16', 'BF16', 'I64', 'BOOL', 'F8_E4M3']), shape: [...shape], bytes }],
      ];
    }),
  );
  return fileOf(tensors);
}

export const models: Target = {
  name: 'models of one’s own',
  slow: true,
  async once(draw) {
    const model = pick(draw, soundModels);
    let file = draw() < 0.5 ? changedHeader(draw, model.file) : model.file;
    if (draw() < 0.3) file = changedBytes(draw, file);
    const config = changedConfig(draw, model.config);
    const input = { model: model.name, config, header: new TextDecoder().decode(file.subarray(8, 1500)) };
    const files = [slicesOf('model.safetensors', file)];
    if (draw() < 0.8) files.push(slicesOf('config.json', bytesOf(config)));
    try {
      const family = draw() < 0.5 ? pick(draw, familyIds) : undefined;
      const opened = await openModel(plain, files, { ...(family && { family }) });
      await taken(opened, { ids: families.ids }, draw, input);
      const { token, position } = await opened.report();
      for (const found of [token, position])
        if (found && !(found.rows.length > 0)) fault('A report of no rows', input);
    } catch (error) {
      sentence(error, input);
    }
  },
};

/** Takes its first scores apart: they must add up, whatever the file says. */
async function taken(
  opened: Awaited<ReturnType<typeof openModel>>,
  of: Parameters<typeof opened.decompose>[0],
  draw: Draw,
  input: unknown,
): Promise<void> {
  const scores = await opened.decompose(of, { gauge: draw() < 0.5 ? 'canonical' : 'raw' });
  if (scores.logits.length !== scores.heads.length * scores.n ** 2) fault('Logits of another shape', input);
  if (!scores.logits.every(Number.isFinite)) fault('Scores that are not finite', input);
  // In float; the largest residual seen is 4.2e-7 of the largest term.
  const largest = scores.terms.reduce((most, term) => Math.max(most, Math.abs(term)), 1);
  if (!(Math.max(...scores.residuals) <= 3e-6 * largest)) fault('Terms that do not add up', input);
}
