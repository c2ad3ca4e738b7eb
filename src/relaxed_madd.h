// Fused multiply-add for Eigen's products, where the engine has relaxed SIMD.
//
// Eigen has no WebAssembly back end; it runs here on Emscripten's translation of SSE, which has no
// fused multiply-add. These two specialisations give it one. The build includes this file ahead of
// every source of the relaxed module and of no other.
#pragma once

#include <wasm_simd128.h>

// Eigen's matrix product multiplies and adds apart unless it is told that one instruction does both.
#define EIGEN_HAS_SINGLE_INSTRUCTION_MADD

#include <Eigen/Core>

namespace Eigen::internal {

template <>
EIGEN_STRONG_INLINE Packet4f pmadd(const Packet4f& a, const Packet4f& b, const Packet4f& c) {
  return reinterpret_cast<__m128>(wasm_f32x4_relaxed_madd(
      reinterpret_cast<v128_t>(a), reinterpret_cast<v128_t>(b), reinterpret_cast<v128_t>(c)));
}

template <>
EIGEN_STRONG_INLINE Packet2d pmadd(const Packet2d& a, const Packet2d& b, const Packet2d& c) {
  return reinterpret_cast<__m128d>(wasm_f64x2_relaxed_madd(
      reinterpret_cast<v128_t>(a), reinterpret_cast<v128_t>(b), reinterpret_cast<v128_t>(c)));
}

}  // namespace Eigen::internal
