// The module of straight.cpp, in any runtime.

/** Below the checkout. */
export const straightFile = 'build/bench/straight/straight.wasm';

/** Given its bytes, what makes an instance, which has one model. */
export const straightOf = (bytes) => {
  const compiled = WebAssembly.compile(bytes);
  return async () => {
    const module = await compiled;
    const imports = {};
    // Of the system that it was linked for it calls nothing while it computes.
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = () => {
        throw new Error(`straight.wasm called ${name}.`);
      };
    }
    const instance = await WebAssembly.instantiate(module, imports);
    instance.exports._initialize?.();
    return instance;
  };
};
