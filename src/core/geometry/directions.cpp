#include "geometry/directions.h"

#include "numeric/product.h"

namespace superpose {

Vector<double> row_lengths(const Matrix<double>& table) { return table.rowwise().norm(); }

Matrix<double> row_cosines(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> cosines = rows_times_rows<double>(a, b);
  const Vector<double> down = row_lengths(a), across = row_lengths(b);
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < b.rows(); ++j) cosines(i, j) /= down[i] * across[j];
  }
  return cosines;
}

}  // namespace superpose
