// Vectors of 16 bytes: v128 in WebAssembly, SSE in native builds. Eigen's own vectorization is off; loops
// that are worth vectorizing are written with these.
#pragma once

#include <cstring>

namespace superpose {

constexpr int kVectorBytes = 16;

template <typename Scalar>
struct Simd {
  typedef Scalar Vector __attribute__((vector_size(kVectorBytes), may_alias));
  static constexpr int kLanes = kVectorBytes / sizeof(Scalar);

  // Loads and stores need no alignment.
  static Vector load(const Scalar* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
  }
  // Not a zero vector plus the value: the compiler could not drop that addition, because -0 + 0 is 0.
  static Vector all(Scalar value) {
    Vector vector;
    for (int lane = 0; lane < kLanes; ++lane) vector[lane] = value;
    return vector;
  }
  static void store(Scalar* to, Vector vector) { std::memcpy(to, &vector, sizeof vector); }
};

}  // namespace superpose
