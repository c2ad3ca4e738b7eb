// How much of its width a table uses: how far each channel moves, and how many dimensions it fills.
//
// A count of moving channels depends on the threshold and on the number of positions; ranks do not
// depend on the choice of axes. Ranks are functions of the singular values s_1 >= s_2 >= ... of the table,
// raw or column-centred. They are 0 for an all-zero or empty table.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// max - min over the rows, [d], in the table's units; zeros for a table without rows.
Vector<double> channel_ranges(const Matrix<double>& table);

// How many ranges are above the threshold.
int count_above(const Vector<double>& ranges, double threshold);

// How many s_k are above tolerance * s_1; tolerance is from 0 to 1.
int numerical_rank(const Vector<double>& singular_values, double tolerance);

// sum s_k^2 / s_1^2 (Rudelson and Vershynin 2007), from 1 to the rank.
double stable_rank(const Vector<double>& singular_values);

// The least k for which s_1^2 + ... + s_k^2 is at least `share`, in (0, 1], of the sum of all.
int energy_rank(const Vector<double>& singular_values, double share);

// (sum s_k^2)^2 / sum s_k^4, from 1 to the rank. For a column-centred table this is the participation ratio
// of the covariance's eigenvalues.
double participation_ratio(const Vector<double>& singular_values);

}  // namespace superpose
