// Files that the command reads and writes besides models.
import { open, realpath, stat, unlink, writeFile } from 'node:fs/promises';
import { quoted } from './options.js';
import { Refusal } from './refusal.js';

const unwritable = (file: string, why: string | undefined) =>
  new Refusal(`${quoted(file, 200)} could not be written (${why}).`);

/** Refuses a path that cannot be written. Leaves what is there as it is; for a call before long work. */
export async function checkWritable(file: string): Promise<void> {
  const before = await stat(file).catch(({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ENOENT') throw unwritable(file, code);
    return undefined;
  });
  if (before && !before.isFile() && !before.isDirectory()) throw unwritable(file, 'it is no file');
  try {
    await (await open(file, 'a')).close();
    // The file that was made for this, also behind a link.
    if (!before) await unlink(await realpath(file));
  } catch (error) {
    throw unwritable(file, (error as NodeJS.ErrnoException).code);
  }
}

export async function write(file: string, content: string | Uint8Array): Promise<void> {
  await writeFile(file, content).catch(({ code }: NodeJS.ErrnoException) => {
    throw unwritable(file, code);
  });
}
