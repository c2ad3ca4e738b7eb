// LayerNorm of rows, and LayerNorm of a sum, written as a sum. Models, scores and training all normalize
// here.
//
// With x = sum_s t_s per token, C = I - 11'/d and sigma^2 = |Cx|^2/d + epsilon,
//
//   LN(x) = sum_s h_s + beta,   h_s = gamma * (C t_s) / sigma.
//
// Centring and gamma are linear; only sigma couples the summands, and it comes from the whole sum, once per
// token. Normalizing each summand by its own sigma does not give parts that add up. RMSNorm is the same with
// C = I and no beta.
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

// How often a row's mean is subtracted. The second time removes what rounding left of the mean, which matters
// in float if the mean is large compared with the deviations, as in the residual streams of trained models.
// In double, once is enough. Small transformers are trained with `once`, because the recorded runs were.
enum class Centring { once, twice };

// Replaces each row of x [n, d] by gamma * C x / sigma + beta, and writes sigma [n]. For kind none, x stays
// and sigma is ones. sigma is right even where the squares of a row are beyond the range of Scalar. A row
// with sigma = 0, which only epsilon = 0 allows, becomes NaN, as the formula says.
template <typename Scalar>
void normalize_rows(const Normalization<Scalar>& normalization, Centring centring, Matrix<Scalar>& x,
                    Vector<Scalar>& sigma);

// Replaces each row of a summand [n, d] of x by gamma * C t / sigma, with the sigma [n] of x and without
// beta.
template <typename Scalar>
void normalize_part(const Normalization<Scalar>& normalization, Centring centring,
                    const Vector<Scalar>& sigma, Matrix<Scalar>& part);

struct NormalizedSummands {
  Eigen::Index tokens = 0;  // n
  // [(1 + summands) * n, d], stacked so that one product projects them all: LN(x) from x itself, beta
  // included, and then each h_s.
  Matrix<double> stack;
  Vector<double> sigma;  // [n]; ones when kind is none

  auto sum() const { return stack.topRows(tokens); }
};

// summands: at least one, all [n, d].
NormalizedSummands normalize(const std::vector<Matrix<double>>& summands,
                             const Normalization<double>& normalization);

}  // namespace superpose
