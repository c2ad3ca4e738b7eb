// The dot products of all pairs of tokens, with positions added and with positions concatenated.
//
//   (x_i + rho p_i) . (x_j + rho p_j) = x_i.x_j + rho x_i.p_j + rho p_i.x_j + rho^2 p_i.p_j
//   [x_i; rho p_i] . [x_j; rho p_j]   = x_i.x_j                             + rho^2 p_i.p_j
//
// So before any weights, adding differs from concatenating by the two cross terms and by nothing else.
#pragma once

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

struct DotProducts {
  Matrix<double> token_token;        // [n, n], x_i . x_j
  Matrix<double> token_position;     // [n, n], rho x_i . p_j; empty when the widths differ
  Matrix<double> position_token;     // [n, n], rho p_i . x_j; empty when the widths differ
  Matrix<double> position_position;  // [n, n], rho^2 p_i . p_j
  Matrix<double> added;              // [n, n], from the summed rows; empty when the widths differ
  Matrix<double> concatenated;       // [n, n], from the joined rows
};

// token is [n, d_t], position is [n, d_p]; only concatenation allows d_t != d_p. added and
// concatenated are computed from the added and the joined rows themselves, not from the terms, so
// comparing them with the sums of terms is a check.
DotProducts dot_products(const Matrix<double>& token, const Matrix<double>& position, double position_scale);
constexpr double dot_products_bytes(double n, double d_token, double d_position) {
  return bytes_of_doubles(12 * n * n + 3 * n * (d_token + d_position));
}

// Moments over the pairs i < j of a symmetric or nearly symmetric [n, n] matrix. Pairs i = j are left out,
// because |x_i|^2 is on another scale than the rest. NaN if there are too few pairs.
struct PairMoments {
  double mean = 0;
  double deviation = 0;  // standard deviation of the population: the divisor is the number of pairs
};
PairMoments pair_moments(const Matrix<double>& matrix);

// Pearson correlation of two [n, n] matrices over the pairs i < j; NaN when one of them is constant.
double pair_correlation(const Matrix<double>& a, const Matrix<double>& b);

}  // namespace superpose
