// What a seed draws: texts and bytes of kinds that have broken readers.

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
export const one = <T>(draw: Draw, of: readonly T[]): T => of[below(draw, of.length)] as T;

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
    text += draw() < 0.7 ? one(draw, pieces) : String.fromCharCode(below(draw, 0x10000));
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
      file[at] = kind < 0.25 ? below(draw, 256) : one(draw, [...'0123456789"{}[]:,.-e\\']).charCodeAt(0);
    } else if (kind < 0.7) file = file.slice(0, at);
    else if (kind < 0.85)
      file = Uint8Array.of(...file.subarray(0, at), below(draw, 256), ...file.subarray(at));
    else file = Uint8Array.of(...file.subarray(0, at), ...file.subarray(at + 1));
  }
  return file;
}
