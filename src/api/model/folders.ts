// Files that were chosen with the folders that they lie in.
import * as check from '../check.js';
import type { Slices } from '../files.js';

/** Those beside the weights, by their names without the folder; files of the same name elsewhere are of something else. */
export function inOneFolder(files: readonly Slices[]): Map<string, Slices> {
  const folders = new Map<string, Map<string, Slices>>();
  for (const file of files) {
    const end = file.name.lastIndexOf('/') + 1;
    const [folder, name] = [file.name.slice(0, end), file.name.slice(end)];
    const beside = folders.get(folder) ?? new Map<string, Slices>();
    if (beside.has(name))
      throw new RangeError(
        `Two of the files are called ${check.shown(file.name)}; give those of one folder.`,
      );
    const { size, counts = false } = file;
    const read: Slices['read'] = (...bytes) => file.read(...bytes);
    beside.set(name, folder === '' ? file : { name, size, counts, read });
    folders.set(folder, beside);
  }
  if (folders.size === 1) return [...folders.values()][0] as Map<string, Slices>;
  const depthOf = (folder: string) => folder.split('/').length;
  const ofModels = [...folders].filter(([, beside]) =>
    [...beside.keys()].some((name) => isWeights.test(name)),
  );
  const least = Math.min(...ofModels.map(([folder]) => depthOf(folder)));
  // A model in a folder within another's is a part of it, such as a dense layer of sentence-transformers.
  const outermost = ofModels.filter(([folder]) => depthOf(folder) === least);
  if (outermost.length > 1)
    throw new RangeError(
      `There are weights in ${outermost.length} folders, among them ${outermost
        .slice(0, 2)
        .map(([folder]) => check.shown(folder))
        .join(' and ')}; give the files of one.`,
    );
  return outermost[0]?.[1] ?? new Map(files.map((file) => [file.name, file]));
}

const isWeights = /\.safetensors(\.index\.json)?$/;
