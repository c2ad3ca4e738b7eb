// The dot products of all pairs of tokens, with positions added and with positions concatenated.
//
//   (x_i + rho p_i) . (x_j + rho p_j) = x_i.x_j + rho x_i.p_j + rho p_i.x_j + rho^2 p_i.p_j
//   [x_i; rho p_i] . [x_j; rho p_j]   = x_i.x_j                             + rho^2 p_i.p_j
//
// So before any weights, adding differs from concatenating by the two cross terms and nothing else.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

template <typename Scalar>
struct DotProducts {
  Matrix<Scalar> token_token;        // [n, n], x_i . x_j
  Matrix<Scalar> token_position;     // [n, n], rho x_i . p_j; empty when the widths differ
  Matrix<Scalar> position_token;     // [n, n], rho p_i . x_j; empty when the widths differ
  Matrix<Scalar> position_position;  // [n, n], rho^2 p_i . p_j
  Matrix<Scalar> added;              // [n, n], from the summed rows; empty when the widths differ
  Matrix<Scalar> concatenated;       // [n, n], from the joined rows
};

// token is [n, d_t], position is [n, d_p]; only concatenation allows d_t != d_p. added and
// concatenated are computed from the added and the joined rows themselves, not from the terms, so
// comparing them with the sums of terms is a check.
template <typename Scalar>
DotProducts<Scalar> dot_products(const Matrix<Scalar>& token, const Matrix<Scalar>& position,
                                 Scalar position_scale);

// Over the pairs i < j of a symmetric or nearly symmetric [n, n] matrix. A token with itself is left
// out, because |x_i|^2 is on another scale than the rest. NaN where there are too few pairs.
struct PairMoments {
  double mean = 0;
  double deviation = 0;  // standard deviation, divided by the number of pairs
};
template <typename Scalar>
PairMoments pair_moments(const Matrix<Scalar>& matrix);

// Pearson correlation of two [n, n] matrices over the pairs i < j; NaN when one of them is constant.
template <typename Scalar>
double pair_correlation(const Matrix<Scalar>& a, const Matrix<Scalar>& b);

}  // namespace superpose
