// Reads files from disk or over the network, with errors that are sentences.
import type { OwnBytes } from './table.js';

const nodeFiles = 'node:fs/promises';

/**
 * The error for a file that does not exist or cannot be read from disk.
 *
 * @category Read and write files
 */
export class Unreadable extends Error {}

/** The error for a file that could not be reached, though it may well exist. */
export class Unreachable extends Error {}

const noNetwork = 'is there a network?';

/** Options of a caller who waits for a file and may stop waiting. */
export interface Watch {
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes that have arrived since the last call. */
  received?: ((bytes: number) => void) | undefined;
}

/** A file that can be read in parts. */
export interface Slices {
  /** Its name, perhaps with folders before it, separated by slashes. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** Returns the `length` bytes from `offset` on, or fewer at the file’s end. `watch` may end the read. */
  read(offset: number, length: number, watch?: Watch): Promise<Uint8Array | ArrayBuffer>;
  /**
   * Whether read() reports bytes to `watch` as they arrive. If not, they are counted when all of them have
   * arrived.
   */
  readonly counts?: boolean;
}

/** Files by name; `named` is the name of a source that was a single file. */
export interface Files {
  files: Map<string, Slices>;
  named?: string;
}

/**
 * Reads a file, from disk for a file: address (Node) and otherwise by fetch. Errors are sentences that begin
 * with `what`, the file's name for readers. `afresh` bypasses caches.
 */
export async function readBytes(
  address: URL,
  what: string,
  afresh = false,
  { signal, received }: Watch = {},
): Promise<OwnBytes> {
  signal?.throwIfAborted();
  if (address.protocol === 'file:' && typeof process === 'object') {
    // Bundlers would put a substitute into pages if the module's name were literal.
    const { readFile }: typeof import('node:fs/promises') = await import(
      /* @vite-ignore */ /* webpackIgnore: true */ nodeFiles
    );
    return readFile(address).then(
      (bytes) => {
        received?.(bytes.length);
        return new Uint8Array(bytes);
      },
      (cause: unknown) => {
        throw new Error(`${what} could not be read (${address.pathname}).`, { cause });
      },
    );
  }
  const response = await fetch(address, {
    ...(afresh && { cache: 'reload' }),
    ...(signal && { signal }),
  }).catch(async (cause: unknown) => {
    signal?.throwIfAborted();
    const reason = await import('./fetchFailure.js').then(
      ({ reasonFor }) => reasonFor(address),
      () => noNetwork,
    );
    throw new Unreachable(`${what} could not be fetched; ${reason} (${address.pathname})`, { cause });
  });
  if (!response.ok) {
    throw new Error(
      `${what} could not be fetched: the server answered ${response.status} (${address.pathname}).`,
    );
  }
  const { body } = response;
  const countedResponse =
    received && body
      ? new Response(
          body.pipeThrough(
            new TransformStream<OwnBytes, OwnBytes>({
              transform(piece, to) {
                received(piece.length);
                to.enqueue(piece);
              },
            }),
          ),
        )
      : response;
  const bytes = await countedResponse.arrayBuffer().catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new Unreachable(`${what} broke off on its way; ${noNetwork} (${address.pathname})`, {
      cause,
    });
  });
  return new Uint8Array(bytes);
}
