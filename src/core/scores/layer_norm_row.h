// LayerNorm of one row. layer_norm.cpp compiles it for speed, because training normalizes every row with it;
// layer_norm_summands.cpp compiles it for size, because it is among the first bytes of the page.
#pragma once

#include <cmath>
#include <limits>

#include "numeric/lanes.h"
#include "numeric/power_of_two.h"
#include "scores/layer_norm.h"

namespace superpose {

template <typename Scalar>
void subtract_mean(Scalar* row, Eigen::Index d) {
  using S = Simd<Scalar>;
  const Scalar mean = mean_of(row, d);
  const auto means = S::all(mean);
  along<Scalar>(
      d, [&](Eigen::Index c) { S::store(row + c, S::load(row + c) - means); },
      [&](Eigen::Index c) { row[c] -= mean; });
}

// C x for the rows that the norm centres.
template <typename Scalar>
void centre(const Normalization<Scalar>& normalization, Centring centring, Scalar* row, Eigen::Index d) {
  if (normalization.kind != Norm::layer_norm) return;
  subtract_mean(row, d);
  if (centring == Centring::twice) subtract_mean(row, d);
}

// sqrt(|row|^2 / d + epsilon), correct whenever the result itself can be represented.
template <typename Scalar>
Scalar root_mean_square(const Scalar* row, Eigen::Index d, double epsilon) {
  using Limits = std::numeric_limits<Scalar>;
  const Scalar square = dot(row, row, d) / static_cast<Scalar>(d) + static_cast<Scalar>(epsilon);
  if (square <= Limits::max() && square >= Limits::min() / (Limits::epsilon() * Limits::epsilon()))
    return std::sqrt(square);
  // Squares have overflowed, or lost digits: compute again in another unit.
  const Vector<double> exact = Eigen::Map<const Vector<Scalar>>(row, d).template cast<double>();
  const int exponent = exponent_of(exact);
  const double mean = times_power_of_two(exact, -exponent).squaredNorm() / static_cast<double>(d);
  return static_cast<Scalar>(std::hypot(std::ldexp(std::sqrt(mean), exponent), std::sqrt(epsilon)));
}

// row = row / sigma * gamma + beta; without beta for a part.
template <typename Scalar>
void rescale(const Normalization<Scalar>& normalization, Scalar sigma, bool is_part, Scalar* row,
             Eigen::Index d) {
  using S = Simd<Scalar>;
  const Scalar* const gamma = normalization.gamma.size() ? normalization.gamma.data() : nullptr;
  const Scalar* const beta = normalization.beta.size() && !is_part ? normalization.beta.data() : nullptr;
  const Scalar factor = 1 / sigma;
  const auto factors = S::all(factor);
  along<Scalar>(
      d,
      [&](Eigen::Index c) {
        auto v = S::load(row + c) * factors;
        if (gamma) v *= S::load(gamma + c);
        if (beta) v += S::load(beta + c);
        S::store(row + c, v);
      },
      [&](Eigen::Index c) {
        row[c] *= factor;
        if (gamma) row[c] *= gamma[c];
        if (beta) row[c] += beta[c];
      });
}

// Normalizes one row of x, and returns its sigma.
template <typename Scalar>
Scalar normalize_row(const Normalization<Scalar>& normalization, Centring centring, Scalar* row,
                     Eigen::Index d) {
  centre(normalization, centring, row, d);
  const Scalar sigma = root_mean_square(row, d, normalization.epsilon);
  rescale(normalization, sigma, false, row, d);
  return sigma;
}

template <typename Scalar>
void normalize_part_row(const Normalization<Scalar>& normalization, Centring centring, Scalar sigma,
                        Scalar* row, Eigen::Index d) {
  centre(normalization, centring, row, d);
  rescale(normalization, sigma, true, row, d);
}

}  // namespace superpose
