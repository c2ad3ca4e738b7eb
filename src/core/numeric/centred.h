// Tables about their means.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// The table minus the mean of each column.
inline Matrix<double> column_centred(const Matrix<double>& table) {
  if (table.rows() == 0) return table;
  return table.rowwise() - table.colwise().mean();
}

// The table minus the mean of each row: of logits [n, n], what softmax sees of them.
template <typename Scalar>
Matrix<Scalar> row_centred(const Matrix<Scalar>& table) {
  if (table.size() == 0) return table;
  return table.colwise() - table.rowwise().mean();
}

}  // namespace superpose
