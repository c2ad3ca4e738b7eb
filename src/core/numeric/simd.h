// Vectors of 16 bytes that every compiler here knows: WebAssembly's v128 and SSE.
// Eigen is not told to vectorise: what is worth vectorising is written with these, once.
#pragma once

#include <cstring>

namespace superpose {

constexpr int kVectorBytes = 16;

template <typename Scalar>
struct Simd {
  typedef Scalar Vector __attribute__((vector_size(kVectorBytes), may_alias));
  static constexpr int kLanes = kVectorBytes / sizeof(Scalar);

  // From and to anywhere, aligned or not.
  static Vector load(const Scalar* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
  }
  // Not zeros plus the value: the compiler must keep that addition, since -0 + 0 is 0.
  static Vector all(Scalar value) {
    Vector vector;
    for (int lane = 0; lane < kLanes; ++lane) vector[lane] = value;
    return vector;
  }
  static void store(Scalar* to, Vector vector) { std::memcpy(to, &vector, sizeof vector); }
};

}  // namespace superpose
