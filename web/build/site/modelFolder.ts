// The folder of the model's files in dist/. Its name has a digest of what is in them, so that a page that was made with them
// still finds them when a later version with other ones lies there too.
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';

const model = resolve(import.meta.dirname, '../../../build/model');

let folder: string | undefined;

/** Relative to dist/, with a slash at its end. Without the model's files nothing is there. */
export function modelFolder(): string {
  if (!existsSync(resolve(model, 'manifest.json'))) return 'model/';
  if (folder === undefined) {
    const hash = createHash('sha256');
    for (const file of readdirSync(model).sort())
      hash.update(file).update(readFileSync(resolve(model, file)));
    folder = `model/${hash.digest('hex').slice(0, 8)}/`;
  }
  return folder;
}

/** The manifest in model/ itself names the newest files, for callers of the library. */
export const modelFiles = (dist: string): Plugin => ({
  name: 'model-files',
  apply: 'build',
  writeBundle() {
    if (!existsSync(resolve(model, 'manifest.json'))) return;
    cpSync(model, resolve(dist, modelFolder()), { recursive: true });
    copyFileSync(resolve(model, 'LICENSE'), resolve(dist, 'model/LICENSE'));
    const { format, files } = JSON.parse(readFileSync(resolve(model, 'manifest.json'), 'utf8'));
    const inFolder = modelFolder().slice('model/'.length);
    const pieces = Object.entries<{ name: string }[]>(files).map(([file, pieces]) => [
      file,
      pieces.map((piece) => ({ ...piece, name: `${inFolder}${piece.name}` })),
    ]);
    const manifest = { format, files: Object.fromEntries(pieces) };
    writeFileSync(resolve(dist, 'model/manifest.json'), JSON.stringify(manifest));
  },
});
