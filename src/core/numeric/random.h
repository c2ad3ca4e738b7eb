// Seeded random tables, the same on every platform and in every build.
//
// The engine is std::mt19937_64, whose output the C++ standard fixes. It does not fix that of
// std::normal_distribution, so normals are computed here (Box-Muller): uniforms are bit-identical
// everywhere, and normals agree to the last digit or two of the platform's log, sin and cos.
#pragma once

#include <cstdint>
#include <random>

#include "numeric/matrix.h"

namespace superpose {

// Single draws, for callers who do not want a table of them. Drawing allocates nothing.
class Random {
 public:
  Random(std::uint32_t seed, std::uint32_t stream);

  // On [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  // 0 .. count - 1 with equal probabilities, to within count * 2^-53; count >= 1.
  int below(int count) { return static_cast<int>(uniform() * count); }

 private:
  std::mt19937_64 engine_;
};

// [rows, columns] of independent draws from N(0, standard_deviation^2), filled row by row in double
// and then rounded to Scalar. Equal seed and stream give equal draws. Different streams of one seed
// are independent, so drawing a weight matrix does not change the token table beside it.
template <typename Scalar>
Matrix<Scalar> random_normal(int rows, int columns, double standard_deviation, std::uint32_t seed,
                             std::uint32_t stream);

// [rows, columns] of draws from the uniform distribution on [0, 1), multiples of 2^-53.
template <typename Scalar>
Matrix<Scalar> random_uniform(int rows, int columns, std::uint32_t seed, std::uint32_t stream);

}  // namespace superpose
