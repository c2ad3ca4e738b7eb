// The activation between the two products of an MLP (GELU: Hendrycks & Gimpel, arXiv 1606.08415):
//
//   gelu       x Phi(x) = x/2 (1 + erf(x / sqrt 2))
//   gelu_tanh  x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), called gelu_new in GPT-2's and similar files
//   silu       x / (1 + e^(-x)), or swish, of gated MLPs
//   relu       max(x, 0)
//
// The two GELUs differ by up to 5e-4, which shows in the output of a model: its config says which of them it
// needs.
#pragma once

#include <array>

#include "numeric/matrix.h"

namespace superpose {

enum class Activation { gelu, gelu_tanh, relu, silu };
constexpr std::array<const char*, 4> names(Activation) { return {"gelu", "gelu_tanh", "relu", "silu"}; }

// rows [n, width] become the activation of rows + bias, in place; an empty bias is zeros. Accurate
// to 2 units in the last place of max(|x|, 1).
void activate(Activation activation, const Vector<float>& bias, Matrix<float>& rows);

// The gated form: rows become the activation of gate + gate_bias times rows + bias (Shazeer, arXiv
// 2002.05202). `gate` has the same shape, and is overwritten.
void activate_gated(Activation activation, const Vector<float>& gate_bias, Matrix<float>& gate,
                    const Vector<float>& bias, Matrix<float>& rows);

}  // namespace superpose
