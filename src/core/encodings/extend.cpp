#include "encodings/extend.h"

#include <algorithm>

namespace superpose {

Matrix<double> extend_table(const Matrix<double>& table, Eigen::Index rows, Extension how) {
  const Eigen::Index n = table.rows();
  if (rows <= n) return table.topRows(rows);
  Matrix<double> found(rows, table.cols());
  for (Eigen::Index p = 0; p < rows; ++p) {
    if (how == Extension::copied) {
      found.row(p) = table.row(std::min(p, n - 1));
    } else if (how == Extension::tiled) {
      found.row(p) = table.row(p % n);
    } else {
      // Whole numbers as long as possible, so that the last row is the last row.
      const Eigen::Index below = p * (n - 1) / (rows - 1), rest = p * (n - 1) % (rows - 1);
      const double part = static_cast<double>(rest) / static_cast<double>(rows - 1);
      found.row(p) = table.row(below);
      if (rest) found.row(p) += part * (table.row(below + 1) - table.row(below));
    }
  }
  return found;
}

}  // namespace superpose
