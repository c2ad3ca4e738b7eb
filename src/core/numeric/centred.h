// Tables minus their means.
#pragma once

#include <limits>

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

// The table minus the mean of each column. The first row is subtracted first, so that equal rows become
// exactly 0, and a mean far from zero costs no digits.
inline Matrix<double> column_centred(const Matrix<double>& table) {
  if (table.rows() == 0) return table;
  const Matrix<double> from_first = table.rowwise() - table.row(0);
  return from_first.rowwise() - from_first.colwise().mean();
}
constexpr double column_centred_bytes(double rows, double columns) {
  return bytes_of_doubles(4 * rows * columns);
}

// Moves `amount` times the mean row of `from` [n, d] from each of its rows to the same row of `to` [n, d], n
// >= 1. The sums of their rows stay as they are, and so does whatever is computed from those sums.
struct MovedMean {
  Matrix<double> from, to;
};
inline MovedMean move_mean(const Matrix<double>& from, const Matrix<double>& to, double amount) {
  const Matrix<double> moved = (amount * from.colwise().mean()).replicate(from.rows(), 1);
  return {from - moved, to + moved};
}
constexpr double move_mean_bytes(double rows, double columns) { return bytes_of_doubles(7 * rows * columns); }

// The table minus the mean of each row, computed in the same way. For logits [n, n] this is the part that
// softmax sees.
template <typename Scalar>
Matrix<Scalar> row_centred(const Matrix<Scalar>& table) {
  if (table.size() == 0) return table;
  const Matrix<Scalar> from_first = table.colwise() - table.col(0);
  return from_first.colwise() - from_first.rowwise().mean();
}

// How far `count` values of at most this size can be from their mean by rounding alone, if they should be
// equal and each is a sum of products: 64 units in the last place for each of them.
template <typename Scalar>
double rounding_of(double size, Eigen::Index count) {
  return 64 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * static_cast<double>(count) * size;
}

}  // namespace superpose
