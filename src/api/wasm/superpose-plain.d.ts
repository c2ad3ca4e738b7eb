// The JavaScript that Emscripten writes next to the .wasm (build/package/wasm). src/wasm/first lists what
// the module offers.
export default function createFirst(options: object): Promise<Record<string, unknown>>;
