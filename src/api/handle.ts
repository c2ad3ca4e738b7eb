// What is held in the module's memory until it is let go.
import * as check from './check.js';
import type { Raw } from './module.js';

declare global {
  // For programs that are compiled without the library esnext.disposable, whose declaration this is.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

export interface Handle {
  /** False once it has been deleted, or its module has broken off and taken it along. */
  isAlive(): boolean;
  /** Frees the module’s memory; calling it again does nothing. */
  delete(): void;
  /** The same, for `using`; in an engine without Symbol.dispose there is delete() alone. */
  [Symbol.dispose](): void;
}

/** An object in the module's memory, and the handle of it. */
export interface Held {
  /** Where it is; throws once it is gone. `when` says during what, if that is to be told. */
  address(when?: string): number;
  /** What a caller is given of it. */
  readonly handle: Handle;
}

/**
 * Makes an object in the module's memory, whose `bytes` count until it is deleted or the module breaks off. `what` is
 * its name in sentences, `free` takes its address.
 */
export function held(
  raw: Raw,
  what: string,
  bytes: number,
  make: () => number,
  free: (address: number) => void,
): Held {
  let address: number | undefined = make();
  let end = 'has been deleted';
  const release = check.hold(bytes);
  const lose = (how: string) => {
    end = how;
    address = undefined;
    raw.kept.delete(lose);
    release();
  };
  raw.kept.add(lose);
  const remove = () => {
    if (address === undefined) return;
    const mine = address;
    lose(end);
    free(mine);
  };
  return {
    address(when = '') {
      if (address === undefined) throw new Error(`This ${what} ${end}${when}; make another one.`);
      return address;
    },
    handle: {
      isAlive: () => address !== undefined,
      delete: remove,
      // Not every engine has the symbol.
      ...(Symbol.dispose && { [Symbol.dispose]: remove }),
    } as Handle,
  };
}
