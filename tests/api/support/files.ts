// Files made for the tests, sound and unsound: safetensors, tables in every format, and a tokenizer.json.
import type { Table } from 'add-or-concatenate';
import { rowOf } from './numbers.ts';
import { addedToken } from './tokenizerFiles.ts';

/**
 * A file with this header and so many bytes of data; `length` is the header's length as the file states it.
 */
export function file(header: string, dataBytes = 0, length?: number | bigint): Uint8Array {
  const text = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + text.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length ?? text.length), true);
  bytes.set(text, 8);
  return bytes;
}

/** A sound file of these tensors. */
export function fileOf(
  tensors: Record<string, { dtype: string; shape: number[]; bytes: Uint8Array }>,
): Uint8Array {
  let offset = 0;
  const header = Object.entries(tensors).map(([name, { dtype, shape, bytes }]) => {
    const data_offsets = [offset, offset + bytes.length];
    offset += bytes.length;
    return `${JSON.stringify(name)}:${JSON.stringify({ dtype, shape, data_offsets })}`;
  });
  const complete = file(`{${header.join(',')}}`, offset);
  let at = complete.length - offset;
  for (const { bytes } of Object.values(tensors)) {
    complete.set(bytes, at);
    at += bytes.length;
  }
  return complete;
}

export function floatFromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

export const joined = (...parts: (string | Uint8Array)[]): Uint8Array<ArrayBuffer> => {
  const all = parts.map((part) => (typeof part === 'string' ? bytesOf(part) : part));
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

export const singles = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

/** A table as numpy.save writes it. */
export function npy(
  descr: string,
  shape: string,
  data: Uint8Array,
  fortran = 'False',
  version = 1,
): Uint8Array<ArrayBuffer> {
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`;
  const before = version === 1 ? 10 : 12;
  const padded = `${text.padEnd(Math.ceil((before + text.length + 1) / 64) * 64 - before - 1)}\n`;
  const length =
    version === 1
      ? [padded.length % 256, padded.length >> 8]
      : [padded.length % 256, padded.length >> 8, 0, 0];
  return joined(Uint8Array.of(0x93), 'NUMPY', Uint8Array.of(version, 0, ...length), padded, data);
}

/** A table of float32 numbers in every format, by file name; formats that name rows use these words. */
export function tableFiles(table: Table, words: readonly string[]): Record<string, Uint8Array<ArrayBuffer>> {
  const { data, rows, columns } = table;
  const bytes = new Uint8Array(Float32Array.from(data).buffer);
  const lines = words.map((_, row) => [...rowOf(table, row)]);
  return {
    'words.csv': joined(lines.map((line, row) => `${[words[row], ...line].join(',')}\n`).join('')),
    'rows.npy': npy('<f4', `(${rows}, ${columns})`, bytes),
    'rows.csv': joined(lines.map((line) => `${line.join(',')}\n`).join('')),
    'rows.safetensors': new Uint8Array(fileOf({ E: { dtype: 'F32', shape: [rows, columns], bytes } })),
  };
}

/**
 * A tokenizer.json like BERT's, in lower case, with words in brackets special and [CLS] … [SEP] around a
 * text.
 */
export function wordPieceTokenizer(vocab: Record<string, number>) {
  const marker = (content: string) => ({ id: content, ids: [vocab[content]], tokens: [content] });
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: Object.entries(vocab)
      .filter(([content]) => /^\[.*\]$/.test(content))
      .map(([content, id]) => addedToken(id, content)),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [],
      special_tokens: { '[CLS]': marker('[CLS]'), '[SEP]': marker('[SEP]') },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab,
    },
  };
}
