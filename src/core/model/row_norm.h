// LayerNorm of whole rows, as an encoder's residual stream needs it; scores/layer_norm.h takes a sum apart.
#pragma once

#include "numeric/matrix.h"
#include "scores/layer_norm.h"

namespace superpose {

// x += added + bias, rows [n, d]; both may be empty.
template <typename Scalar>
void add_rows(const Matrix<Scalar>& added, const Vector<Scalar>& bias, Matrix<Scalar>& x);

// Each row of x to its norm, and sigma [n] of each. Of kind none, ones, and x as it is.
template <typename Scalar>
void normalize_rows(const Normalization<Scalar>& normalization, Matrix<Scalar>& x, Vector<Scalar>& sigma);

// gamma * C x / sigma: what becomes of a part of those rows. beta is no part of it.
template <typename Scalar>
void normalize_part(const Normalization<Scalar>& normalization, const Vector<Scalar>& sigma,
                    Matrix<Scalar>& part);

}  // namespace superpose
