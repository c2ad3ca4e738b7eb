import type { OwnBytes } from './table.js';

const nodeFiles = 'node:fs/promises';

/** A file that is not there, or that cannot be read from disk. */
export class Unreadable extends Error {}

/** The file could not be reached, though it may well exist. */
export class Unreachable extends Error {}

const noNetwork = 'is there a network?';

/** For a caller who waits for a file and may stop waiting. */
export interface Watch {
  signal?: AbortSignal | undefined;
  /** Bytes that have come since the last call. */
  received?: ((bytes: number) => void) | undefined;
}

/** A file that can be read in parts. */
export interface Slices {
  /** Its name; folders may stand before it, with slashes between them. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The bytes from `offset` on, `length` of them or up to the file’s end. `watch` may end the read. */
  read(offset: number, length: number, watch?: Watch): Promise<Uint8Array | ArrayBuffer>;
  /** Whether read() tells `watch` of bytes as they arrive; otherwise they are counted when they are there. */
  readonly counts?: boolean;
}

/** Files by name; `named` if the source was a single file. */
export interface Files {
  files: Map<string, Slices>;
  named?: string;
}

/**
 * The bytes of a file, from disk for a file: address (Node), otherwise by fetch. Failures are sentences;
 * `what` names the file at the start of one. `afresh` bypasses caches.
 */
export async function readBytes(
  address: URL,
  what: string,
  afresh = false,
  { signal, received }: Watch = {},
): Promise<OwnBytes> {
  signal?.throwIfAborted();
  if (address.protocol === 'file:' && typeof process === 'object') {
    // A computed name keeps bundlers from putting a substitute for it into pages.
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
    const reason = await import('./unreached.js').then(
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
  const counted =
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
  const bytes = await counted.arrayBuffer().catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new Unreachable(`${what} broke off on its way; ${noNetwork} (${address.pathname})`, {
      cause,
    });
  });
  return new Uint8Array(bytes);
}
