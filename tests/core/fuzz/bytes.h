// Turns arbitrary bytes into arguments: small shapes, and numbers of every size, as callers may give them.
// Each draw is a statement of its own, because compilers differ in the order in which they evaluate a call's
// arguments, and the same bytes must become the same arguments everywhere.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "numeric/matrix.h"
#include "numeric/product.h"

namespace superpose {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }

  // From `low` to `high`.
  int integer(int low, int high) { return low + byte() % (high - low + 1); }

  bool flag() { return byte() & 1; }

  // Finite, because the typed API passes nothing else: small whole numbers, which make rows dependent;
  // eighths; powers of two, which make products overflow; and any other bits.
  double number() {
    const int kind = byte() % 8;
    if (kind < 3) return integer(-2, 2);
    if (kind < 6) return integer(-100, 100) / 8.0;
    if (kind == 6) {
      const double sign = flag() ? 1 : -1;
      return std::ldexp(sign, 8 * integer(-120, 120));
    }
    std::uint64_t bits = 0;
    for (int k = 0; k < 8; ++k) bits = bits << 8 | byte();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return std::isfinite(value) ? value : 0;
  }

  // Above 0.
  double positive() {
    const double value = std::abs(number());
    return value > 0 ? value : 1;
  }

  // A table of a drawn shape, in two statements, so that no compiler reorders the two draws.
  Matrix<double> table(int least_rows, int most_rows, int most_columns) {
    const int rows = integer(least_rows, most_rows), columns = integer(1, most_columns);
    return matrix(rows, columns);
  }

  template <typename Scalar = double>
  Matrix<Scalar> matrix(int rows, int columns) {
    Matrix<Scalar> drawn(rows, columns);
    for (Eigen::Index at = 0; at < drawn.size(); ++at) {
      const Scalar value = static_cast<Scalar>(number());
      drawn.data()[at] = std::isfinite(value) ? value : Scalar(0);
    }
    return drawn;
  }

  template <typename Scalar = double>
  Vector<Scalar> vector(int size) {
    return matrix<Scalar>(1, size).row(0);
  }

  template <typename Scalar = double>
  Linear<Scalar> linear(int rows, int columns) {
    Linear<Scalar> drawn{matrix<Scalar>(rows, columns), {}};
    if (flag()) drawn.bias = vector<Scalar>(rows);
    return drawn;
  }

  std::vector<int> integers(int count, int high) {
    std::vector<int> drawn(count);
    for (int& value : drawn) value = integer(0, high);
    return drawn;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

// Ends the program if a result cannot be right; a fuzzer keeps the input that led there.
#define SUPERPOSE_MUST(condition)                                                         \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s does not hold.\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

}  // namespace superpose
