// A table of rows for two kinds of things, as a sum: what depends on neither, on one, on the other, on both.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// x(t, i) = mean + first_t + second_i + rest_ti. With probabilities w_t of the first kind and equal ones of the
// second, first and second sum to zero, and so does rest over either: the parts are orthogonal.
struct TwoWayParts {
  Matrix<double> mean;    // [1, d]
  Matrix<double> first;   // [T, d]
  Matrix<double> second;  // [n, d]
  Matrix<double> rest;    // [T n, d], zeros if the rows are sums
};

// For rows [T n, d], those of one t together, and weights [T], which are scaled to sum to 1.
TwoWayParts two_way_parts(const Matrix<double>& rows, const Vector<double>& weights);

// The means of |row|^2 of the three parts that vary: first, second, rest.
struct TwoWaySizes {
  double first, second, rest;
};
TwoWaySizes two_way_sizes(const TwoWayParts& parts, const Vector<double>& weights);

}  // namespace superpose
