// Says that a name does not exist: an option of the library or of the command, a setting of a figure.

/**
 * How many letters to insert, delete, replace, or exchange with their neighbour until one text is the other (the optimal
 * string alignment distance).
 */
function distance(one: string, other: string): number {
  const table: number[][] = [];
  const at = (row: number, column: number) => table[row]?.[column] as number;
  for (let row = 0; row <= one.length; row++) {
    const edits: number[] = [];
    table.push(edits);
    for (let column = 0; column <= other.length; column++) {
      // Without a letter of one, all letters of the other are inserted.
      let least = Math.max(row, column);
      const [letter, against] = [one[row - 1], other[column - 1]];
      if (row > 0 && column > 0) {
        const replaced = at(row - 1, column - 1) + (letter === against ? 0 : 1);
        least = Math.min(replaced, at(row - 1, column) + 1, at(row, column - 1) + 1);
      }
      if (row > 1 && column > 1 && letter === other[column - 2] && against === one[row - 2])
        least = Math.min(least, at(row - 2, column - 2) + 1);
      edits.push(least);
    }
  }
  return at(one.length, other.length);
}

/** The name that was most likely meant; undefined where more than half of the letters of each differ. */
function nearest(name: string, names: readonly string[]): string | undefined {
  let found: string | undefined;
  let least = Infinity;
  for (const one of names) {
    const away = distance(name.toLowerCase(), one.toLowerCase());
    if (away >= least || away > Math.max(name.length, one.length) / 2) continue;
    least = away;
    found = one;
  }
  return found;
}

const longest = 40;

/**
 * “Unknown option `seeed`. Options: task, scheme, seed. Did you mean `seed`?” `within` is the name of the object that
 * has the option, where a caller would not know.
 */
export function unknownName(kind: string, name: string, names: readonly string[], within = ''): string {
  const shown = JSON.stringify(name.slice(0, longest)).slice(1, -1) + (name.length > longest ? '…' : '');
  const meant = nearest(name.slice(0, longest), names);
  const list = `${kind[0]?.toUpperCase()}${kind.slice(1)}s: ${names.join(', ') || 'none'}.`;
  const hint = meant === undefined ? '' : ` Did you mean \`${meant}\`?`;
  return `Unknown ${kind} \`${within && `${within}.`}${shown}\`. ${list}${hint}`;
}
