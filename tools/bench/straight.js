// The module of straight.cpp, in any runtime.

/** The path, relative to the checkout. */
export const straightFile = 'build/bench/straight/straight.wasm';

/** From the module's bytes, a function that makes an instance, which has one model. */
export const straightOf = (bytes) => {
  const compiled = WebAssembly.compile(bytes);
  return async () => {
    const module = await compiled;
    const imports = {};
    // It was linked for a system that it never calls while it computes.
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
