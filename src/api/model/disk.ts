// Files on disk, for Node.
import * as check from '../check.js';
import { type Files, type Slices, Unreadable } from '../files.js';

const nodeFiles = 'node:fs/promises';
const nodeUrl = 'node:url';

/** The file at a path and those beside it, or the files in a folder, as far as a model may need them. */
export async function filesOnDisk(source: string | URL): Promise<Files> {
  // A computed name keeps bundlers from putting a substitute for the module into pages.
  const { open, readdir, stat }: typeof import('node:fs/promises') = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeFiles
  );
  if (source instanceof URL && source.protocol !== 'file:') {
    throw new RangeError(
      `source is the address ${check.shown(source.href)}; models and tables are read from disk: give a file: address, a path, or a Blob of what you fetched.`,
    );
  }
  const { fileURLToPath }: typeof import('node:url') = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeUrl
  );
  const path = source instanceof URL ? fileURLToPath(source) : source;
  const withReason = async <T>(at: string, work: Promise<T>): Promise<T> =>
    work.catch((cause: NodeJS.ErrnoException) => {
      throw new Unreadable(`“${at}” could not be read (${cause.code}).`, { cause });
    });
  const isFolder = (await withReason(path, stat(path))).isDirectory();
  const [folder, named] = isFolder ? [path, undefined] : folderAndName(path);
  const files = new Map<string, Slices>();
  for (const entry of await withReason(folder, readdir(folder, { withFileTypes: true }))) {
    if (!modelFile.test(entry.name) && entry.name !== named) continue;
    const at = `${folder}/${entry.name}`;
    // A symbolic link may lead nowhere. Then weights are ignored, and other files fail when they are read.
    const status = await stat(at).catch(() => undefined);
    if (!status && entry.name !== named && entry.name.endsWith('.safetensors')) continue;
    const size = status?.size ?? 0;
    const readBytes = async (offset: number, length: number) => {
      const file = await open(at);
      try {
        const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
        let filled = 0;
        while (filled < bytes.length) {
          const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offset + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return bytes.subarray(0, filled);
      } finally {
        await file.close();
      }
    };
    files.set(entry.name, {
      name: entry.name,
      size,
      async read(offset, length) {
        // Reading from a pipe would wait until somebody writes to it.
        if (status && !status.isFile()) {
          const what = status.isDirectory() ? 'a folder' : 'a pipe or a device';
          throw new Unreadable(`“${at}” could not be read: it is ${what}, and must be a file.`);
        }
        return withReason(at, readBytes(offset, length));
      },
    });
  }
  return { files, ...(named !== undefined && { named }) };
}

function folderAndName(path: string): [folder: string, name: string] {
  const trimmed = path.replace(/[\\/]+$/, '');
  const slash = Math.max(trimmed.lastIndexOf('/'), trimmed.lastIndexOf('\\'));
  return slash < 0 ? ['.', trimmed] : [trimmed.slice(0, slash) || '/', trimmed.slice(slash + 1)];
}

/** The files of a folder that a model may need. */
const modelFile = /\.safetensors(\.index\.json)?$|^(config|tokenizer|adapter_config)\.json$/;
