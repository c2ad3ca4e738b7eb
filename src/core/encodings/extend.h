// Rows for positions that a learned table has none for.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

enum class Extension {
  copied,        // the last row again and again
  tiled,         // row p mod n
  interpolated,  // all rows spread evenly: row p is at p (n - 1) / (rows - 1) of the table, linear in between
};

// [rows, d] of a table [n, d], n >= 1 and rows >= 1. Where there are no more rows than before, the first ones.
Matrix<double> extend_table(const Matrix<double>& table, Eigen::Index rows, Extension how);

}  // namespace superpose
