// Scaling by powers of two, which rounds nothing. Measurements of ratios are computed from entries around 1,
// so that no intermediate square overflows or underflows.
#pragma once

#include <cmath>

#include "numeric/matrix.h"

namespace superpose {

// The least e for which every |value| is below 2^e; 0 when all of them are 0, or there are none.
template <typename Derived>
int exponent_of(const Eigen::MatrixBase<Derived>& values) {
  int exponent = 0;
  if (values.size()) std::frexp(static_cast<double>(values.cwiseAbs().maxCoeff()), &exponent);
  return exponent;
}

// values * 2^exponent. In two steps, since 2^exponent itself may be out of a double's range.
template <typename Table>
Table times_power_of_two(Table values, int exponent) {
  using Scalar = typename Table::Scalar;
  values *= std::ldexp(Scalar(1), exponent / 2);
  values *= std::ldexp(Scalar(1), exponent - exponent / 2);
  return values;
}

// The table scaled so that its largest |entry| is in [1/2, 1); all zeros stay.
inline Matrix<double> normalized(const Matrix<double>& table) {
  return times_power_of_two(table, -exponent_of(table));
}

}  // namespace superpose
