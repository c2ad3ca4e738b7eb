// LayerNorm of a sum, written as a sum.
//
// With x = sum_s t_s per token, C = I - 11'/d and sigma^2 = |Cx|^2/d + epsilon,
//
//   LN(x) = sum_s h_s + beta,   h_s = gamma * (C t_s) / sigma.
//
// Centring and gamma are linear; only sigma couples the summands, and it comes from the whole sum,
// once per token. Normalizing each summand by its own sigma does not give parts that add up.
// RMSNorm is the same with C = I and no beta. model/row_norm.h normalizes whole rows where they lie.
#pragma once

#include <array>
#include <vector>

#include "numeric/matrix.h"

namespace superpose {

enum class Norm { none, layer_norm, rms_norm };
constexpr std::array<const char*, 3> names(Norm) { return {"none", "layer_norm", "rms_norm"}; }

template <typename Scalar>
struct Normalization {
  Norm kind = Norm::none;
  Vector<Scalar> gamma;  // [d], or empty for ones
  Vector<Scalar> beta;   // [d], or empty for zeros; always empty for rms_norm and none
  double epsilon = 0;    // >= 0, inside the square root (BERT: 1e-12)
};

struct NormalizedSummands {
  Eigen::Index tokens = 0;  // n
  // [(1 + summands) * n, d], stacked so that one product projects them all: LN(x) from x
  // itself, beta included, and then each h_s.
  Matrix<double> stack;
  Vector<double> sigma;  // [n]; ones when kind is none

  auto whole() const { return stack.topRows(tokens); }
};

// summands: at least one, all [n, d]. A token whose sum is constant (LayerNorm) or zero (RMSNorm)
// with epsilon = 0 has sigma = 0 and gives NaN, as the formula does.
NormalizedSummands normalize(const std::vector<Matrix<double>>& summands,
                             const Normalization<double>& normalization);

}  // namespace superpose
