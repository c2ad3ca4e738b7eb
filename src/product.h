// The one matrix product of the library: rows times rows. Projections are rows times the rows of a
// weight [out, in], scores are queries times keys, Gram matrices are rows times themselves, so every
// product here is a * b'. Having it in one place keeps the module small and gives speed one address.
#pragma once

#include "matrix.h"

namespace superpose {

// Rows that may be a block of a wider matrix, such as one head's columns.
template <typename Scalar>
using Rows = Eigen::Ref<const Matrix<Scalar>, 0, Eigen::OuterStride<>>;

// out = scale * a * b', where a is [m, k], b is [n, k] and out, which may not overlap them, is [m, n].
template <typename Scalar>
void multiply_rows(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, MatrixMap<Scalar> out);

// a * b' as a new matrix.
template <typename Scalar>
Matrix<Scalar> rows_times_rows(const Rows<Scalar>& a, const Rows<Scalar>& b) {
  Matrix<Scalar> out(a.rows(), b.rows());
  multiply_rows<Scalar>(a, b, 1, MatrixMap<Scalar>(out.data(), out.rows(), out.cols()));
  return out;
}

}  // namespace superpose
