#include "geometry/directions.h"

#include <algorithm>

#include "numeric/power_of_two.h"
#include "numeric/product.h"

namespace superpose {

namespace {

// Scales each row by itself, so that a table may mix very long and very short rows.
Matrix<double> normalized_rows(Matrix<double> table) {
  for (Eigen::Index i = 0; i < table.rows(); ++i) table.row(i) = normalized(table.row(i));
  return table;
}

}  // namespace

Vector<double> row_lengths(const Matrix<double>& table) {
  Vector<double> lengths(table.rows());
  for (Eigen::Index i = 0; i < table.rows(); ++i) {
    const auto row = table.row(i);
    lengths[i] = std::ldexp(normalized(row).norm(), exponent_of(row));
  }
  return lengths;
}

Matrix<double> row_cosines(const Matrix<double>& given_a, const Matrix<double>& given_b) {
  const Matrix<double> a = normalized_rows(given_a), b = normalized_rows(given_b);
  Matrix<double> cosines = pairs_of_rows<double>(a, b);
  const Vector<double> down = a.rowwise().norm(), across = b.rowwise().norm();
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < b.rows(); ++j) {
      cosines(i, j) = std::clamp(cosines(i, j) / (down[i] * across[j]), -1.0, 1.0);
    }
  }
  return cosines;
}

}  // namespace superpose
