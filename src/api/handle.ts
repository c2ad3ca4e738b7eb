// Objects that stay in the module's memory until they are deleted.
import * as check from './check.js';
import type { Raw } from './module.js';

declare global {
  // For programs compiled without the library esnext.disposable, which declares this.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

/**
 * Frees an object in the module's memory: declare the object with `using`, or call delete() when you no
 * longer need it. An object that is not freed stays until its module ends, and the module's memory never
 * shrinks.
 *
 * @category Load the library
 */
export interface Handle {
  /** Returns false after the object was deleted, or lost because its module broke off. */
  isAlive(): boolean;
  /** Frees the object’s memory in the module; calling it again does nothing. */
  delete(): void;
  /** delete() for `using`; engines without Symbol.dispose have delete() alone. */
  [Symbol.dispose](): void;
}

/** An object in the module's memory, and its handle. */
export interface ResidentObject {
  /** Its address; throws when it is gone. */
  address(): number;
  /**
   * Counts bytes that the object occupies beside those that it was made with, until it is gone; negative
   * when it frees them.
   */
  addBytes(bytes: number): void;
  /** The part that callers get. */
  readonly handle: Handle;
}

/**
 * Makes an object in the module's memory. Its `bytes` count until it is deleted or the module breaks off.
 * `what` names the object in errors, and `free` is called with its address. `release` frees a piece of the
 * object that can be read again, and returns false if there is none.
 */
export function makeResident(
  raw: Raw,
  what: string,
  bytes: number,
  make: () => number,
  free: (address: number) => void,
  release?: () => boolean,
): ResidentObject {
  let address: number | undefined = make();
  let end = 'has been deleted';
  let count = 0;
  const addBytes = (more: number) => {
    count += more;
    check.addResidentBytes(more);
  };
  addBytes(bytes);
  const lose = (how: string) => {
    end = how;
    address = undefined;
    raw.abortListeners.delete(lose);
    if (release) check.releasers.delete(release);
    addBytes(-count);
  };
  raw.abortListeners.add(lose);
  if (release) check.releasers.add(release);
  const remove = () => {
    if (address === undefined) return;
    const last = address;
    lose(end);
    free(last);
  };
  return {
    address() {
      if (address === undefined) throw new Error(`This ${what} ${end}; make another one.`);
      return address;
    },
    addBytes(more) {
      if (address !== undefined) addBytes(more);
    },
    handle: {
      isAlive: () => address !== undefined,
      delete: remove,
      // Some engines lack the symbol.
      ...(Symbol.dispose && { [Symbol.dispose]: remove }),
    } as Handle,
  };
}
