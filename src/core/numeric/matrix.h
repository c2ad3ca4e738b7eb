// The matrix layout of the whole library: row-major, like the frameworks that tables come from and the
// arrays that JavaScript sees. Rows are tokens or positions.
#pragma once

#include <Eigen/Core>

namespace superpose {

template <typename Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

template <typename Scalar>
using MatrixMap = Eigen::Map<Matrix<Scalar>>;

template <typename Scalar>
using ConstMatrixMap = Eigen::Map<const Matrix<Scalar>>;

// [left, right], side by side: [n, a] and [n, b] give [n, a + b].
template <typename Scalar>
Matrix<Scalar> join_columns(const Matrix<Scalar>& left, const Matrix<Scalar>& right) {
  Matrix<Scalar> joined(left.rows(), left.cols() + right.cols());
  joined.leftCols(left.cols()) = left;
  joined.rightCols(right.cols()) = right;
  return joined;
}

}  // namespace superpose
