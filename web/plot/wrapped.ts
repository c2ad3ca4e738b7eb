/** Text in lines that fit a width, of letters so many pixels wide; a longer word has a line of its own. */
export function wrapped(text: string, width: number, letter = 6.8): string[] {
  const most = Math.floor(width / letter);
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length === 0 || line.length > most) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}
