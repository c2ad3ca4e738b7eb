// Relaxed SIMD in this Node: version 20 has it behind a flag, later ones by default.
export const relaxedSimdFlags =
  Number(process.versions.node.split('.')[0]) < 22 ? ['--experimental-wasm-relaxed-simd'] : [];
