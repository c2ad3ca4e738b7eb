// The JavaScript that Emscripten writes next to the .wasm (build/package/wasm). src/wasm lists what the
// module offers.
export default function create(options: object): Promise<Record<string, unknown>>;
