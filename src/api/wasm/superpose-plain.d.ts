// The JavaScript that Emscripten writes next to the .wasm (build/package/wasm); bindings.cpp says what
// the module offers.
export default function createSuperpose(options: object): Promise<Record<string, unknown>>;
