const nodeFiles = 'node:fs/promises';

/** The file may well be there; the line to it is not. */
export class Unreachable extends Error {}

/**
 * The bytes of a file, from disk for a file: address (Node) or by fetch. Failures are sentences;
 * `what` is what the file is, at the start of one. `afresh` passes over what caches have of it.
 */
export async function readBytes(
  address: URL,
  what: string,
  afresh = false,
): Promise<Uint8Array<ArrayBuffer>> {
  if (address.protocol === 'file:' && typeof process === 'object') {
    // Not written out in the import, so that bundlers do not put a substitute for it into pages.
    const { readFile }: typeof import('node:fs/promises') = await import(
      /* @vite-ignore */ /* webpackIgnore: true */ nodeFiles
    );
    return readFile(address).then(
      (bytes) => new Uint8Array(bytes),
      (cause: unknown) => {
        throw new Error(`${what} could not be read (${address.pathname}).`, { cause });
      },
    );
  }
  const response = await fetch(address, afresh ? { cache: 'reload' } : {}).catch((cause: unknown) => {
    throw new Unreachable(`${what} could not be fetched; is there a network? (${address.pathname})`, {
      cause,
    });
  });
  if (!response.ok) {
    throw new Error(
      `${what} could not be fetched: the server answered ${response.status} (${address.pathname}).`,
    );
  }
  const bytes = await response.arrayBuffer().catch((cause: unknown) => {
    throw new Unreachable(`${what} broke off on its way; is there a network? (${address.pathname})`, {
      cause,
    });
  });
  return new Uint8Array(bytes);
}
