// Copies the model's files into dist/. Their folder is named by a digest of their contents, so that a page
// still finds them when a later version with other files is deployed beside them.
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';

const model = resolve(import.meta.dirname, '../../../build/model');

let folder: string | undefined;

/** The folder relative to dist/, ending in a slash. It does not exist if the model's files are missing. */
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

/** The manifest in model/ itself names the newest files, for users of the library. */
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
