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
// the keys they may read and both summed over the batch, in the gauge that training gave it. Content is what
// LayerNorm makes of e and p apart, with the standard deviation of their sum. Empty, and NaN, without
// options().has_terms().
template <typename Scalar>
TrainedShares trained_shares(Model<Scalar>& model, const Scalar* parameters, const Batch& batch);

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

}  // namespace superpose
