// LayerNorm of whole rows, for an encoder's residual stream, where they lie. scores/layer_norm.h takes a sum apart, into
// copies that one product projects, and guards sigma against overflow: tables are a caller's, a stream is a model's.
#pragma once

#include "numeric/matrix.h"
#include "scores/layer_norm.h"

namespace superpose {

// x += added + bias, rows [n, d]; both may be empty.
void add_rows(const Matrix<float>& added, const Vector<float>& bias, Matrix<float>& x);

// Normalizes each row of x, and writes the rows' sigma [n]. For kind none x stays and sigma is ones.
void normalize_rows(const Normalization<float>& normalization, Matrix<float>& x, Vector<float>& sigma);

// gamma * C x / sigma: the same norm for a part of those rows. It leaves out beta.
void normalize_part(const Normalization<float>& normalization, const Vector<float>& sigma,
                    Matrix<float>& part);

}  // namespace superpose
