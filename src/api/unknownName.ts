// Composes the sentence about a name that does not exist: an option of the library or the command, a figure,
// a setting of a figure. Wherever a name is one of a list, it suggests the nearest.

/**
 * The optimal string alignment distance: how many letters must be inserted, deleted, replaced, or exchanged
 * with their neighbour to turn one text into the other.
 */
function distance(first: string, second: string): number {
  const table: number[][] = [];
  const at = (row: number, column: number) => table[row]?.[column] as number;
  for (let row = 0; row <= first.length; row++) {
    const edits: number[] = [];
    table.push(edits);
    for (let column = 0; column <= second.length; column++) {
      // In the first row and column, all letters of the other text are inserted.
      let least = Math.max(row, column);
      const [letter, against] = [first[row - 1], second[column - 1]];
      if (row > 0 && column > 0) {
        const replaced = at(row - 1, column - 1) + (letter === against ? 0 : 1);
        least = Math.min(replaced, at(row - 1, column) + 1, at(row, column - 1) + 1);
      }
      if (row > 1 && column > 1 && letter === second[column - 2] && against === first[row - 2])
        least = Math.min(least, at(row - 2, column - 2) + 1);
      edits.push(least);
    }
  }
  return at(first.length, second.length);
}

/** The nearest name; undefined where more than half of the letters of each name differ. */
function nearest(name: string, names: readonly string[]): string | undefined {
  let result: string | undefined;
  let least = Infinity;
  for (const candidate of names) {
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits >= least || edits > Math.max(name.length, candidate.length) / 2) continue;
    least = edits;
    result = candidate;
  }
  return result;
}

/** The longest part of a name that a sentence quotes, in characters. */
const longest = 40;

/** “ Did you mean `seed`?”, or nothing if no name is near. */
export function didYouMean(name: string, names: readonly string[]): string {
  const suggestion = nearest(name.slice(0, longest), names);
  return suggestion === undefined ? '' : ` Did you mean \`${suggestion}\`?`;
}

/**
 * “Unknown option `seeed`. Options: task, scheme, seed. Did you mean `seed`?” `within` is the name of the
 * object that has the option, if a caller could not tell.
 */
export function unknownName(kind: string, name: string, names: readonly string[], within = ''): string {
  const quoted = JSON.stringify(name.slice(0, longest)).slice(1, -1) + (name.length > longest ? '…' : '');
  const list = `${kind[0]?.toUpperCase()}${kind.slice(1)}s: ${names.join(', ') || 'none'}.`;
  return `Unknown ${kind} \`${within && `${within}.`}${quoted}\`. ${list}${didYouMean(name, names)}`;
}
