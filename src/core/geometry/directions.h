// The lengths and directions of tables' rows.
#pragma once

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

// |row|, [n], of a table [n, d]; in the table's units.
Vector<double> row_lengths(const Matrix<double>& table);
constexpr double row_lengths_bytes(double rows, double columns) {
  return bytes_of_doubles(rows * (columns + 2));
}

// The cosine of each row of `a` [n, d] with each of `b` [m, d], [n, m], from -1 to 1; NaN where either row
// is all zero.
Matrix<double> row_cosines(const Matrix<double>& a, const Matrix<double>& b);
constexpr double row_cosines_bytes(double a_rows, double b_rows, double columns) {
  return bytes_of_doubles(2 * a_rows * b_rows + (a_rows + b_rows) * (columns + 1));
}

}  // namespace superpose
