// The error for a text that is not JSON. Python writes NaN and Infinity into such texts, though JSON has
// neither.

/**
 * The error for a text that JSON.parse() refused. `file` names it; a NaN or an Infinity is reported with its
 * place.
 */
export function notJson(file: string, text: string, cause: unknown): RangeError {
  const number = numberIn(text);
  if (!number) return new RangeError(`${file} is not JSON.`, { cause });
  const { name, line, column } = number;
  return new RangeError(
    `${file} has ${name} in line ${line}, column ${column}. Python writes that, but JSON has no such number: put a finite one or null there.`,
    { cause },
  );
}

/** The first NaN or Infinity outside of strings, with its line and column from 1 up. */
function numberIn(text: string): { name: string; line: number; column: number } | undefined {
  for (const { 0: match, index } of text.matchAll(/"(?:[^"\\]|\\.)*(?:"|$)|-?\b(?:NaN|Infinity)\b/gs)) {
    if (match.startsWith('"')) continue;
    const lines = text.slice(0, index).split(/\r\n|\r|\n/);
    return { name: match, line: lines.length, column: (lines.at(-1) as string).length + 1 };
  }
  return undefined;
}
