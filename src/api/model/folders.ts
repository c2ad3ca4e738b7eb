// Chooses among files that a reader picked together with the folders that they lie in.
import * as check from '../check.js';
import type { Slices } from '../files.js';

/**
 * The files of the folder that has the weights, by their names without the folder. Files of the same names
 * in other folders belong to something else. Throws RangeError if two folders have weights.
 */
export function filesOfOneFolder(files: readonly Slices[]): Map<string, Slices> {
  const folders = new Map<string, Map<string, Slices>>();
  for (const file of files) {
    const end = file.name.lastIndexOf('/') + 1;
    const [folder, name] = [file.name.slice(0, end), file.name.slice(end)];
    const inFolder = folders.get(folder) ?? new Map<string, Slices>();
    if (inFolder.has(name)) {
      throw new RangeError(
        `Two of the files are called ${check.shown(file.name)}; give those of one folder.`,
      );
    }
    const { size, counts = false } = file;
    const read: Slices['read'] = (...range) => file.read(...range);
    inFolder.set(name, folder === '' ? file : { name, size, counts, read });
    folders.set(folder, inFolder);
  }
  if (folders.size === 1) return [...folders.values()][0] as Map<string, Slices>;
  const depthOf = (folder: string) => folder.split('/').length;
  const withWeights = [...folders].filter(([, inFolder]) =>
    [...inFolder.keys()].some((name) => weightsName.test(name)),
  );
  const leastDepth = Math.min(...withWeights.map(([folder]) => depthOf(folder)));
  // A model in a subfolder of another model's folder is a part of that model, such as a dense layer of
  // sentence-transformers.
  const outermost = withWeights.filter(([folder]) => depthOf(folder) === leastDepth);
  if (outermost.length > 1) {
    const names = outermost.slice(0, 2).map(([folder]) => check.shown(folder));
    throw new RangeError(
      `There are weights in ${outermost.length} folders, among them ${names.join(' and ')}; give the files of one.`,
    );
  }
  return outermost[0]?.[1] ?? new Map(files.map((file) => [file.name, file]));
}

const weightsName = /\.safetensors(\.index\.json)?$/;
