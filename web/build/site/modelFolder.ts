// Where a site's figures find the model's files. Usually they are copied into dist/, in a folder named by a
// digest of their contents, so that a page still finds them when a later version with other files is deployed
// beside them.
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Plugin } from 'vite';

const model = resolve(import.meta.dirname, '../../../build/model');

/** Whether the build has the model's files, to draw figures with and to copy. */
export const hasModel = (): boolean => existsSync(resolve(model, 'manifest.json'));

let digest: string | undefined;

/** The folder in dist/ that the model is copied to, ending in a slash. */
function copiedFolder(): string {
  if (digest === undefined) {
    const hash = createHash('sha256');
    for (const file of readdirSync(model).sort())
      hash.update(file).update(readFileSync(resolve(model, file)));
    digest = hash.digest('hex').slice(0, 8);
  }
  return `model/${digest}/`;
}

/**
 * Reads from SUPERPOSE_MODEL where figures fetch the model: the address of a folder, or `none`, which `npm
 * run build -- --without-model` sets. Undefined unless it is set.
 */
function folderElsewhere(): string | undefined {
  const setting = process.env.SUPERPOSE_MODEL;
  if (!setting) return undefined;
  if (setting === 'none') return '';
  const address = URL.canParse(setting) ? new URL(setting) : undefined;
  if (!address || !/^https?:$/.test(address.protocol) || address.search || address.hash) {
    throw new Error(
      `SUPERPOSE_MODEL must be the address of a folder with the model's files, such as https://example.org/superpose/model/, or none; it is “${setting}”.`,
    );
  }
  return address.href.replace(/\/?$/, '/');
}

/**
 * Where figures fetch the model's files: a folder of the site, relative to it, or an absolute address. Empty
 * if they cannot.
 */
export const modelAddress = (): string => folderElsewhere() ?? (hasModel() ? copiedFolder() : '');

/** Copies the model's files. The manifest in model/ itself names the newest, for users of the library. */
export const modelFiles = (dist: string): Plugin => ({
  name: 'model-files',
  apply: 'build',
  writeBundle() {
    const folder = modelAddress();
    if (!folder.startsWith('model/')) return;
    // One licence above all folders is enough.
    const isCopied = (file: string) => basename(file) !== 'LICENSE';
    cpSync(model, resolve(dist, folder), { recursive: true, filter: isCopied });
    copyFileSync(resolve(model, 'LICENSE'), resolve(dist, 'model/LICENSE'));
    const { format, files } = JSON.parse(readFileSync(resolve(model, 'manifest.json'), 'utf8'));
    const inFolder = folder.slice('model/'.length);
    const pieces = Object.entries<{ name: string }[]>(files).map(([file, pieces]) => [
      file,
      pieces.map((piece) => ({ ...piece, name: `${inFolder}${piece.name}` })),
    ]);
    const manifest = { format, files: Object.fromEntries(pieces) };
    writeFileSync(resolve(dist, 'model/manifest.json'), JSON.stringify(manifest));
  },
});
