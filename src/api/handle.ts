// What is held in the module's memory until it is let go.

declare global {
  // For programs that are compiled without the library esnext.disposable, whose declaration this is.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

export interface Handle {
  /** Frees the module’s memory; calling it again does nothing. */
  delete(): void;
  /** The same, for `using`; in an engine without Symbol.dispose there is delete() alone. */
  [Symbol.dispose](): void;
}

// Not every engine has the symbol.
export const handle = (free: () => void): Handle =>
  ({ delete: free, ...(Symbol.dispose && { [Symbol.dispose]: free }) }) as Handle;
