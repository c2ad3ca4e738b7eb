// What a page gives up again: the address of a worker's blob, and waiting for a figure's height.
import { afterEach, expect, test, vi } from 'vitest';
import { tellHeight } from '../../web/embed/height.ts';
import { blobWorker } from '../../web/worker/transports.ts';

afterEach(() => vi.unstubAllGlobals());

test.each(['message', 'error'])('a blob’s address is given up at the worker’s first %s', (event) => {
  const given: string[] = [];
  vi.stubGlobal(
    'Worker',
    class extends EventTarget {
      constructor(readonly address: string) {
        super();
      }
    },
  );
  vi.spyOn(URL, 'revokeObjectURL').mockImplementation((address) => void given.push(address));
  const worker = blobWorker('0').start() as unknown as EventTarget & { address: string };
  expect(worker.address).toMatch(/^blob:/);
  expect(given).toEqual([]);
  worker.dispatchEvent(new Event(event));
  expect(given).toEqual([worker.address]);
});

test('a figure that is drawn after the wait is over has one observer of its height', () => {
  vi.useFakeTimers();
  const observers = new Set<object>();
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe() {
        observers.add(this);
      }
    },
  );
  vi.stubGlobal('window', { parent: {} });
  vi.stubGlobal('document', { body: {} });
  vi.stubGlobal('history', { state: { given: 'here' } });
  const figure = new EventTarget();
  tellHeight(figure as Element);
  vi.runAllTimers();
  figure.dispatchEvent(new Event('superpose-drawn'));
  vi.useRealTimers();
  expect(observers.size).toBe(1);
});
