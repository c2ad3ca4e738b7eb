// Writes the command's files.
import { open, realpath, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { quote, Refusal } from './options.js';

const unwritable = (file: string, why: string | undefined) =>
  new Refusal(`${quote(file, 200)} could not be written (${why}).`);

/** The path with symbolic links resolved; as it is if there is no such file. */
const resolved = (file: string) => realpath(file).catch(() => file);
const besides = (file: string) => `${file}.${process.pid}.part`;

/** Refuses a path that cannot be written, and leaves an existing file as it is. Called before long work. */
export async function checkWritable(file: string): Promise<void> {
  const before = await stat(file).catch(({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ENOENT') throw unwritable(file, code);
    return undefined;
  });
  if (before && !before.isFile() && !before.isDirectory()) throw unwritable(file, 'it is no file');
  try {
    await (await open(file, 'a')).close();
    const target = await realpath(file);
    // Removes the file that open() created, even behind a link.
    if (!before) await unlink(target);
    await (await open(besides(target), 'a')).close();
    await unlink(besides(target));
  } catch (error) {
    throw unwritable(file, (error as NodeJS.ErrnoException).code);
  }
}

/** Writes beside the file and then renames, so that on a full disk the old file stays as it was. */
export async function write(file: string, content: Parameters<typeof writeFile>[1]): Promise<void> {
  const target = await resolved(file);
  try {
    const mode = await stat(target).then(
      ({ mode }) => mode,
      () => 0o666,
    );
    await writeFile(besides(target), content, { mode });
    await rename(besides(target), target);
  } catch (error) {
    await unlink(besides(target)).catch(() => undefined);
    const { code } = error as NodeJS.ErrnoException;
    // An error without a code comes from the content, whose computation was interrupted or refused.
    throw typeof code === 'string' ? unwritable(file, code) : error;
  }
}
