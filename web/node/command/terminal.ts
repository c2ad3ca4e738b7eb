// Writes the command's output. Sentences, tokens and names in files may come from strangers, and a terminal
// obeys control characters and reorders lines at direction marks. So these are written as escapes such as
// \u001b, which mean the same in JSON.
import { once } from 'node:events';

/** Control characters, line separators, direction marks and unpaired surrogates. */
const unprintable = '[\\p{Cc}\\p{Cs}\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]';
const anywhere = new RegExp(unprintable, 'gu');
/** The same, except at line ends, which are \r\n in CSV, and tabs. */
const betweenLines = new RegExp(`(?!\\n|\\t|\\r\\n)${unprintable}`, 'gu');

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes a text so that it stays within a line. */
export const inLine = (text: string): string => text.replace(anywhere, escaped);

/** Writes a text, or bytes as they are, to stdout. */
export async function answer(chunk: string | Uint8Array): Promise<void> {
  // On one terminal, it must not continue the line of progress.
  if (process.stdout.isTTY) progress();
  const printable = typeof chunk === 'string' ? chunk.replace(betweenLines, escaped) : chunk;
  if (!process.stdout.write(printable)) await once(process.stdout, 'drain');
}

/** Writes one line to stderr, beside the answer. */
export function say(sentence: string): void {
  progress();
  process.stderr.write(`${inLine(sentence)}\n`);
}

/** Overwrites one line on a terminal, and clears it without a text; writes nothing anywhere else. */
export function progress(line = ''): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${inLine(line)}`);
}

/**
 * Returns a function to call with how many of `total` steps are done. It writes a line for each tenth, but
 * not on a terminal, where progress() says more, and not if there is only one step.
 */
export function tenthsOf(total: number): (done: number, line: string) => void {
  let tenths = 0;
  return (done, line) => {
    const reached = Math.floor((10 * done) / total);
    if (process.stderr.isTTY || total === 1 || reached === tenths) return;
    tenths = reached;
    say(line);
  };
}
