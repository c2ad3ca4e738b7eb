// Objects held in the module's memory until they are deleted.
import * as check from './check.js';
import type { Raw } from './module.js';

declare global {
  // For programs compiled without the library esnext.disposable, which declares this.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

export interface Handle {
  /** False once it has been deleted, or lost because its module broke off. */
  isAlive(): boolean;
  /** Frees the module’s memory; calling it again does nothing. */
  delete(): void;
  /** delete() for `using`; engines without Symbol.dispose have delete() alone. */
  [Symbol.dispose](): void;
}

/** An object in the module's memory, and its handle. */
export interface OwnedObject {
  /** Where it is; throws once it is gone. */
  address(): number;
  /** Counts so many bytes more, or fewer, until it is gone. */
  hold(bytes: number): void;
  /** What callers get. */
  readonly handle: Handle;
}

/**
 * Makes an object in the module's memory. Its `bytes` count until it is deleted or the module breaks off.
 * `what` names it in sentences; `free` takes its address.
 */
export function held(
  raw: Raw,
  what: string,
  bytes: number,
  make: () => number,
  free: (address: number) => void,
): OwnedObject {
  let address: number | undefined = make();
  let end = 'has been deleted';
  let count = 0;
  const hold = (more: number) => {
    count += more;
    check.hold(more);
  };
  hold(bytes);
  const lose = (how: string) => {
    end = how;
    address = undefined;
    raw.kept.delete(lose);
    hold(-count);
  };
  raw.kept.add(lose);
  const remove = () => {
    if (address === undefined) return;
    const mine = address;
    lose(end);
    free(mine);
  };
  return {
    address() {
      if (address === undefined) throw new Error(`This ${what} ${end}; make another one.`);
      return address;
    },
    hold(more) {
      if (address !== undefined) hold(more);
    },
    handle: {
      isAlive: () => address !== undefined,
      delete: remove,
      // Not every engine has the symbol.
      ...(Symbol.dispose && { [Symbol.dispose]: remove }),
    } as Handle,
  };
}
