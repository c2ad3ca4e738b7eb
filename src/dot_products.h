// The dot products of all pairs of tokens, when positions are added and when they are concatenated.
//
//   (x_i + rho p_i) . (x_j + rho p_j) = x_i.x_j + rho x_i.p_j + rho p_i.x_j + rho^2 p_i.p_j
//   [x_i; rho p_i] . [x_j; rho p_j]   = x_i.x_j                             + rho^2 p_i.p_j
//
// Before any weights, then, adding differs from concatenating by the two cross terms and nothing else.
#pragma once

#include "matrix.h"

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
// that comparing them with the terms' sums is a check.
template <typename Scalar>
DotProducts<Scalar> dot_products(const Matrix<Scalar>& token, const Matrix<Scalar>& position,
                                 Scalar position_scale);

}  // namespace superpose
