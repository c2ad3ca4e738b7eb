// What a trained model says of its question: which terms decide, and whether tokens and positions keep apart.
#pragma once

#include <array>

#include "training/model.h"

namespace superpose {

struct TrainedShares {
  Matrix<double> by_head;               // [H, 4], each row with the sum 1
  std::array<double, kTermCount> mean;  // over the heads
};

// Of the first layer: each term's share of what the scores vary by, <T~, S~> / |S~|^2 with rows centred over
// the keys they may read and both summed over the batch. Content is what LayerNorm makes of e and p apart, with
// the standard deviation of their sum. Terms that are not kept have 0. Raw is the gauge that training gave it;
// in the canonical one the rest of 1 is terms of constants. Empty, and NaN, without options().has_terms(), and
// canonical without options().in_stream(); NaN where no score varies.
template <typename Scalar>
TrainedShares trained_shares(Model<Scalar>& model, const Scalar* parameters, const Batch& batch,
                             const Terms& kept = kAllTerms, TermGauge gauge = TermGauge::raw);

// Of the rows of E and the first n of P, each less their mean row; NaN without options().in_stream(). In a
// concatenation each has zeros where the other is.
struct Separation {
  double overlap;       // A = D |E_c P_c'|^2 / (|E_c|^2 |P_c|^2): 0 apart, 1 expected of random turns
  double chance_band;   // sqrt(2 / (PR_E PR_P)), participation ratios: A's spread for D far above them
  double chance_exact;  // A's standard deviation over random turns, at any D above 1
  // The smallest principal angle, in radians: of all rows' spans, which is 0 where their ranks add up to
  // more than D, and of their two leading directions.
  double smallest_angle, smallest_leading_angle;
};
template <typename Scalar>
Separation separation(const ModelOptions& options, const ParameterLayout& layout, const Scalar* parameters,
                      int n);

// Two directions [2, D] to look at these rows along: the leading one of the rows of E, and that of the first n of
// P less its part along the first, each less their mean row, of length 1, its largest entry positive. Neither is
// chosen with an eye to the other table, so that what lies apart along them is apart. All zero where there is
// none. Only with options().in_stream().
template <typename Scalar>
Matrix<double> row_directions(const ModelOptions& options, const ParameterLayout& layout,
                              const Scalar* parameters, int n);

// The rows of E [V, k] and the first n of P [n, k], each less their mean row, along directions [k, D]. Kept
// directions make it continuous in the rows.
struct RowCoordinates {
  Matrix<double> tokens, positions;
};
template <typename Scalar>
RowCoordinates row_coordinates(const ModelOptions& options, const ParameterLayout& layout,
                               const Scalar* parameters, int n, const Matrix<double>& directions);

}  // namespace superpose
