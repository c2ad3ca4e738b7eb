// The JavaScript that Emscripten writes next to the .wasm (build/package/wasm). src/wasm/second lists what
// the module offers.
export default function createSecond(options: object): Promise<Record<string, unknown>>;
