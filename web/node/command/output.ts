// Where an answer goes and in which format: a file, whose ending names the format, or standard output, for
// which a flag does.
import { listed } from '../../../build/package/listed.js';
import { checkWritable, write } from './files.js';
import { quote, Refusal } from './options.js';
import { answer } from './terminal.js';

/** The formats for programs; without one, an answer is a text to read. */
export const formats = ['csv', 'json', 'npy', 'safetensors'] as const;
export type Format = (typeof formats)[number];

export interface Output {
  format: Format | 'text';
  /** The path of a file; undefined for standard output. */
  file?: string;
}

export const tableOptions = {
  out: { type: 'string' },
  csv: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export const arrayOptions = {
  ...tableOptions,
  npy: { type: 'boolean' },
  safetensors: { type: 'boolean' },
} as const;

type OutputValues = { out?: string | undefined } & { [Name in Format]?: boolean | undefined };

/** Reads --out and the flags. Refuses a path that cannot be written. */
export async function outputOf(values: OutputValues, allowed: readonly Format[]): Promise<Output> {
  const { out } = values;
  const flags = allowed.filter((format) => values[format]);
  const [flag] = flags;
  if (flags.length > 1) throw new Refusal(`Choose one of ${listed(flags.map(flagOf))}.`);
  if (out === undefined || out === '-') {
    if (out !== undefined && flag === undefined)
      throw new Refusal(
        `--out - writes to standard output, in a format that a flag names: add ${listed(allowed.map(flagOf), 'or')}.`,
      );
    if ((flag === 'npy' || flag === 'safetensors') && process.stdout.isTTY)
      throw new Refusal(
        `--${flag} writes bytes, which a terminal cannot show. Write a file, --out FILE.${flag}, or pipe them on.`,
      );
    return { format: flag ?? 'text' };
  }
  if (flag !== undefined)
    throw new Refusal(
      `--${flag} is for standard output, and ${quote(out, 200)} is a file. Its ending says the format; leave out --${flag}.`,
    );
  const format = allowed.find((name) => out.endsWith(`.${name}`));
  if (!format)
    throw new Refusal(
      `--out takes a file that ends in ${listed(
        allowed.map((name) => `.${name}`),
        'or',
      )}, and got ${quote(out, 200)}.`,
    );
  await checkWritable(out);
  return { format, file: out };
}

const flagOf = (format: Format) => `--${format}`;

/** Writes an answer chunk by chunk. A file gets its name when it is complete. */
export async function deliver(
  { file }: Output,
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> {
  if (file !== undefined) return write(file, chunks);
  for await (const chunk of chunks) await answer(chunk);
}
