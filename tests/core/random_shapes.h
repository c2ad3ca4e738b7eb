// Random inputs for properties that must hold in any shape. Seeds are fixed, so a failure repeats.
#pragma once

#include <random>

#include "numeric/random.h"
#include "scores/decomposition.h"

namespace superpose {

class Shapes {
 public:
  explicit Shapes(unsigned seed) : engine_(seed) {}

  int between(int low, int high) { return low + static_cast<int>(engine_() % (high - low + 1)); }
  bool coin() { return engine_() % 2; }

  Matrix<double> matrix(int rows, int columns, double standard_deviation = 1) {
    return random_normal<double>(rows, columns, standard_deviation, next_seed_++, 0);
  }
  Vector<double> vector(int size) { return matrix(size, 1); }

  // Small integers, for which identities that are exact on paper are exact in floating point too.
  Matrix<double> integers(int rows, int columns) { return matrix(rows, columns, 3).array().round(); }

  Linear<double> linear(int out, int in, bool with_bias) {
    Linear<double> result{matrix(out, in, 1 / std::sqrt(in)), {}};
    if (with_bias) result.bias = vector(out);
    return result;
  }

 private:
  std::mt19937 engine_;
  std::uint32_t next_seed_ = 1000;
};

inline double max_abs(const Matrix<double>& difference) {
  return difference.size() ? difference.cwiseAbs().maxCoeff() : 0;
}

}  // namespace superpose
