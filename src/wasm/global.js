// Replaces Emscripten's code for engines that no longer matter: each with WebAssembly SIMD has globalThis.
addToLibrary({
  $emval_get_global: () => globalThis,
});
