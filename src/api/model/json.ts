// What is said of a text that is no JSON. Python writes NaN and Infinity into such texts, though JSON has neither.

/** The error for what JSON.parse() refused; `where` is the file, and a NaN or an Infinity is told with its place. */
export function noJson(where: string, text: string, cause: unknown): RangeError {
  const stray = strayIn(text);
  if (!stray) return new RangeError(`${where} is not JSON.`, { cause });
  const [number, line, column] = stray;
  return new RangeError(
    `${where} has ${number} in line ${line}, column ${column}. Python writes that, but JSON has no such number: put a finite one or null there.`,
    { cause },
  );
}

/** The first NaN or Infinity outside of strings, with its line and column from 1 up. */
function strayIn(text: string): [number: string, line: number, column: number] | undefined {
  for (const { 0: found, index } of text.matchAll(/"(?:[^"\\]|\\.)*(?:"|$)|-?\b(?:NaN|Infinity)\b/gs)) {
    if (found.startsWith('"')) continue;
    const lines = text.slice(0, index).split(/\r\n|\r|\n/);
    return [found, lines.length, (lines.at(-1) as string).length + 1];
  }
  return undefined;
}
