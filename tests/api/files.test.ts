// Files that come over a network: the error when one does not come or comes only in part, and what happens
// when it is no longer wanted.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import * as check from '../../build/package/check.js';
import { readBytes, Unreachable } from '../../build/package/files.js';

/**
 * Starts a server that answers every request with `answer`, and returns the result of `use` at its address.
 */
async function served<T>(answer: RequestListener, use: (address: URL) => Promise<T>): Promise<T> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await use(new URL(`http://127.0.0.1:${port}/words.bin`));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const bytes = Uint8Array.from({ length: 300_000 }, (_, place) => place % 251);

test('the bytes, and how many have come', async () => {
  let counted = 0;
  const received = (more: number) => {
    counted += more;
  };
  const watched = await served(
    (_, answer) => answer.end(bytes),
    (address) => readBytes(address, 'The list', false, { received }),
  );
  expect(Buffer.compare(watched, bytes)).toBe(0);
  expect(counted).toBe(bytes.length);
  const plain = await served(
    (_, answer) => answer.end(bytes),
    (address) => readBytes(address, 'The list'),
  );
  expect(Buffer.compare(plain, bytes)).toBe(0);
});

test('an answer without anything in it', async () => {
  const answered = served(
    (_, answer) => answer.writeHead(204).end(),
    (address) => readBytes(address, 'The list', false, { received: () => {} }),
  );
  expect(await answered).toEqual(new Uint8Array(0));
});

test('only a reading afresh goes past what is stored', async () => {
  const requests: (string | undefined)[] = [];
  await served(
    (request, answer) => {
      requests.push(request.headers['cache-control']);
      answer.end('x');
    },
    async (address) => {
      await readBytes(address, 'The list');
      await readBytes(address, 'The list', true);
    },
  );
  expect(requests).toEqual([undefined, 'no-cache']);
});

test('a server that refuses is quoted', async () => {
  const refused = served(
    (_, answer) => answer.writeHead(404).end('not here'),
    (address) => readBytes(address, 'The list'),
  );
  await expect(refused).rejects.toThrow(
    /^The list could not be fetched: the server answered 404 \(\/words\.bin\)\.$/,
  );
  await expect(refused).rejects.not.toThrow(Unreachable);
});

test('a server that is not there, and an answer that breaks off, ask for a network', async () => {
  let gone: URL | undefined;
  await served(
    (_, answer) => answer.end(),
    async (address) => {
      gone = address;
    },
  );
  const missing = await readBytes(gone as URL, 'The list').catch((error: Error) => error);
  expect(missing).toBeInstanceOf(Unreachable);
  expect((missing as Error).message).toBe('The list could not be fetched; is there a network? (/words.bin)');
  expect((missing as Error).cause).toBeInstanceOf(TypeError);
  const halved = await served(
    (_, answer) => {
      answer.writeHead(200, { 'content-length': bytes.length });
      answer.write(bytes.subarray(0, 1000), () => answer.destroy());
    },
    (address) => readBytes(address, 'The list').catch((error: Error) => error),
  );
  expect(halved).toBeInstanceOf(Unreachable);
  expect((halved as Error).message).toBe('The list broke off on its way; is there a network? (/words.bin)');
  expect((halved as Error).cause).toBeInstanceOf(Error);
});

test.each(['before it is asked', 'before it answers', 'half-way'])(
  'an abort %s ends the read',
  async (when) => {
    const stop = new AbortController();
    const reason = new Error('no longer wanted');
    if (when === 'before it is asked') stop.abort(reason);
    let requests = 0;
    const waited = served(
      (_, answer) => {
        requests += 1;
        if (when === 'half-way') {
          answer.writeHead(200, { 'content-length': bytes.length });
          answer.write(bytes.subarray(0, 1000));
        } else stop.abort(reason);
      },
      (address) =>
        readBytes(address, 'The list', false, {
          signal: stop.signal,
          received: () => stop.abort(reason),
        }),
    );
    await expect(waited).rejects.toBe(reason);
    expect(requests).toBe(when === 'before it is asked' ? 0 : 1);
  },
);

test('a file that is not there is named, with what the system said; an abort ends a read from disk, too', async () => {
  const nowhere = await readBytes(new URL('file:///nowhere/at/all'), 'The list').catch(
    (error: Error) => error,
  );
  expect((nowhere as Error).message).toBe('The list could not be read (/nowhere/at/all).');
  expect((nowhere as Error).cause).toMatchObject({ code: 'ENOENT' });
  const reason = new Error('no longer wanted');
  const stopped = readBytes(new URL(import.meta.url), 'The list', false, {
    signal: AbortSignal.abort(reason),
  });
  await expect(stopped).rejects.toBe(reason);
});

test('arrays of another realm are told from ours', () => {
  for (const name of ['Float64Array', 'Float32Array', 'Uint8Array']) {
    const foreign = runInNewContext(`new ${name}(4)`);
    const error = `TypeError: token.data must be a Float32Array or a Float64Array; it is another realm’s ${name}.`;
    let message = '';
    try {
      check.table('token', { data: foreign, rows: 2, columns: 2 });
    } catch (thrown) {
      message = String(thrown);
    }
    expect(message).toBe(error);
  }
  // A copy of such an array is accepted.
  const copied = Float64Array.from(runInNewContext('new Float64Array([1, 2])'));
  expect(check.table('token', { data: copied, rows: 1, columns: 2 }).rows).toBe(1);
});
