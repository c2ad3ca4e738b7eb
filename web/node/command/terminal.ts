// All that the command says goes through here. Sentences, tokens and the names in a file may be a stranger's, and a
// terminal obeys control characters, and lets marks of direction reorder a line. They are written as escapes, such
// as \u001b, which in JSON mean the same text.
import { once } from 'node:events';

/** Controls, separators of lines, marks that turn the direction of what follows, and halves of characters. */
const unprintable = '[\\p{Cc}\\p{Cs}\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]';
const anywhere = new RegExp(unprintable, 'gu');
/** Lines may end, as in CSV, in \r\n. */
const betweenLines = new RegExp(`(?!\\n|\\t|\\r\\n)${unprintable}`, 'gu');

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Text that stays within a line. */
export const inLine = (text: string): string => text.replace(anywhere, escaped);

export async function answer(text: string): Promise<void> {
  if (!process.stdout.write(text.replace(betweenLines, escaped))) await once(process.stdout, 'drain');
}

/** Writes one line for people, beside the answer. */
export function say(sentence: string): void {
  progress();
  process.stderr.write(`${inLine(sentence)}\n`);
}

/** Overwrites one line on a terminal, and clears it without a text; writes nothing anywhere else. */
export function progress(line = ''): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${inLine(line)}`);
}
