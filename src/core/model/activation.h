// The activation between the two products of an MLP (GELU: Hendrycks & Gimpel, arXiv 1606.08415):
//
//   gelu       x Phi(x) = x/2 (1 + erf(x / sqrt 2))
//   gelu_tanh  x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), called gelu_new in GPT-2's and similar files
//   silu       x / (1 + e^(-x)), or swish, of gated MLPs
//   relu       max(x, 0)
//
// The two GELUs differ by up to 5e-4, which shows in a model's output. The model's config says which to use.
#pragma once

#include <array>

#include "numeric/matrix.h"

namespace superpose {

enum class Activation { gelu, gelu_tanh, relu, silu };
constexpr std::array<const char*, 4> names(Activation) { return {"gelu", "gelu_tanh", "relu", "silu"}; }

// Replaces rows [n, width] by the activation of rows + bias; an empty bias stands for zeros. Accurate to 2
// units in the last place of max(|x|, 1).
void activate(Activation activation, const Vector<float>& bias, Matrix<float>& rows);

// The gated form: replaces rows by activation(gate + gate_bias) * (rows + bias), entry by entry (Shazeer,
// arXiv 2002.05202). `gate` has the same shape, and is overwritten.
void activate_gated(Activation activation, const Vector<float>& gate_bias, Matrix<float>& gate,
                    const Vector<float>& bias, Matrix<float>& rows);

}  // namespace superpose
