// Relaxed SIMD in this Node: 20 has it behind a flag, later ones have it anyway.
export const relaxedSimdFlags =
  Number(process.versions.node.split('.')[0]) < 22 ? ['--experimental-wasm-relaxed-simd'] : [];
