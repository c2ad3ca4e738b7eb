// How much of its width a table uses: how far each channel moves, and how many dimensions the rows fill.
//
// A count of moving channels depends on the threshold and on the number of positions; ranks do not depend on
// the choice of axes.
#pragma once

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

// max - min over the rows, [d], in the table's units; zeros for a table without rows.
Vector<double> channel_ranges(const Matrix<double>& table);
constexpr double channel_ranges_bytes(double rows, double columns) {
  return bytes_of_doubles(columns * (rows + 1));
}

// Functions of the singular values s_1 >= s_2 >= ...; all are 0 for an all-zero or empty table.
struct Ranks {
  Vector<double> singular_values;  // [min(rows, columns)]
  int numerical = 0;               // how many s_k are above rank_tolerance(table) * s_1
  double stable = 0;               // sum s_k^2 / s_1^2 (Rudelson and Vershynin 2007), from 1 to the rank
  int energy = 0;  // the least k for which s_1^2 + ... + s_k^2 is at least `share` of the sum of all
  // (sum s_k^2)^2 / sum s_k^4, from 1 to the rank. For a column-centred table this is the participation ratio
  // of the covariance's eigenvalues.
  double participation_ratio = 0;
};

// The ranks of the table or, if `centred`, of the table minus the mean of each column. `share` is from 0 to
// 1.
Ranks ranks(const Matrix<double>& table, bool centred, double share);
constexpr double ranks_bytes(double rows, double columns) { return bytes_of_doubles(6 * rows * columns); }

}  // namespace superpose
