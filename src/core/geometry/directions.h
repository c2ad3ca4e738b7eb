// The lengths and directions of tables' rows.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// |row|, [n], of a table [n, d]; in the table's units.
Vector<double> row_lengths(const Matrix<double>& table);

// The cosine of each row of `a` [n, d] with each of `b` [m, d], [n, m], from -1 to 1; NaN where either row is
// all zero.
Matrix<double> row_cosines(const Matrix<double>& a, const Matrix<double>& b);

}  // namespace superpose
