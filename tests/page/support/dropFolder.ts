// A folder that a reader drops on the page.
import { readdirSync, readFileSync } from 'node:fs';

/** The names and the bytes of a folder's files, in base64. */
export const filesIn = (folder: string) =>
  readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`, 'base64')] as const);

/**
 * Runs in the page: drops a folder on the card of own models, once that exists. A browser makes entries from what the
 * system drops; these imitate a folder and its reader.
 */
export function dropFolder(files: readonly (readonly [name: string, base64: string])[]): boolean {
  const card = document.querySelector('#own-model') as HTMLDetailsElement;
  card.open = true;
  const own = card.querySelector('.own');
  if (!own) return false;
  const entries = files.map(([name, base64]) => ({
    isFile: true,
    isDirectory: false,
    name,
    file: (take: (file: File) => void) =>
      take(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name)),
  }));
  // A reader returns some entries at a time, and at the end none.
  const parts = [entries.slice(0, 1), entries.slice(1), []];
  const folder = {
    isFile: false,
    isDirectory: true,
    name: 'folder',
    createReader: () => ({ readEntries: (take: (some: unknown[]) => void) => take(parts.shift() ?? []) }),
  };
  const event = new DragEvent('drop', { bubbles: true, cancelable: true });
  Object.defineProperty(event, 'dataTransfer', {
    value: { files: [new File([], 'folder')], items: [{ webkitGetAsEntry: () => folder }] },
  });
  own.dispatchEvent(event);
  return true;
}
