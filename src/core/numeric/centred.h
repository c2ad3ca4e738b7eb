// Tables minus their means.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// The table minus the mean of each column.
inline Matrix<double> column_centred(const Matrix<double>& table) {
  if (table.rows() == 0) return table;
  return table.rowwise() - table.colwise().mean();
}

// The table minus the mean of each row. For logits [n, n] this is the part that softmax sees.
template <typename Scalar>
Matrix<Scalar> row_centred(const Matrix<Scalar>& table) {
  if (table.size() == 0) return table;
  return table.colwise() - table.rowwise().mean();
}

}  // namespace superpose
