#include "scores/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/lanes.h"
#include "numeric/power_of_two.h"

namespace superpose {
namespace {

using Eigen::Index;

template <typename Scalar>
void subtract_mean(Scalar* row, Index d) {
  using S = Simd<Scalar>;
  const Scalar mean = mean_of(row, d);
  const auto means = S::all(mean);
  along<Scalar>(
      d, [&](Index c) { S::store(row + c, S::load(row + c) - means); }, [&](Index c) { row[c] -= mean; });
}

// C x for the rows that the norm centres.
template <typename Scalar>
void centre(const Normalization<Scalar>& normalization, Centring centring, Scalar* row, Index d) {
  if (normalization.kind != Norm::layer_norm) return;
  subtract_mean(row, d);
  if (centring == Centring::twice) subtract_mean(row, d);
}

// sqrt(|row|^2 / d + epsilon), correct whenever the result itself can be represented.
template <typename Scalar>
Scalar root_mean_square(const Scalar* row, Index d, double epsilon) {
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
void rescale(const Normalization<Scalar>& normalization, Scalar sigma, bool is_part, Scalar* row, Index d) {
  using S = Simd<Scalar>;
  const Scalar* const gamma = normalization.gamma.size() ? normalization.gamma.data() : nullptr;
  const Scalar* const beta = normalization.beta.size() && !is_part ? normalization.beta.data() : nullptr;
  const Scalar factor = 1 / sigma;
  const auto factors = S::all(factor);
  along<Scalar>(
      d,
      [&](Index c) {
        auto v = S::load(row + c) * factors;
        if (gamma) v *= S::load(gamma + c);
        if (beta) v += S::load(beta + c);
        S::store(row + c, v);
      },
      [&](Index c) {
        row[c] *= factor;
        if (gamma) row[c] *= gamma[c];
        if (beta) row[c] += beta[c];
      });
}

// Normalizes one row of x, and returns its sigma.
template <typename Scalar>
Scalar normalize_row(const Normalization<Scalar>& normalization, Centring centring, Scalar* row, Index d) {
  centre(normalization, centring, row, d);
  const Scalar sigma = root_mean_square(row, d, normalization.epsilon);
  rescale(normalization, sigma, false, row, d);
  return sigma;
}

template <typename Scalar>
void normalize_part_row(const Normalization<Scalar>& normalization, Centring centring, Scalar sigma,
                        Scalar* row, Index d) {
  centre(normalization, centring, row, d);
  rescale(normalization, sigma, true, row, d);
}

}  // namespace

template <typename Scalar>
void normalize_rows(const Normalization<Scalar>& normalization, Centring centring, Matrix<Scalar>& x,
                    Vector<Scalar>& sigma) {
  sigma = Vector<Scalar>::Ones(x.rows());
  if (normalization.kind == Norm::none) return;
  for (Index i = 0; i < x.rows(); ++i)
    sigma[i] = normalize_row(normalization, centring, x.data() + i * x.cols(), x.cols());
}

template <typename Scalar>
void normalize_part(const Normalization<Scalar>& normalization, Centring centring,
                    const Vector<Scalar>& sigma, Matrix<Scalar>& part) {
  if (normalization.kind == Norm::none) return;
  for (Index i = 0; i < part.rows(); ++i)
    normalize_part_row(normalization, centring, sigma[i], part.data() + i * part.cols(), part.cols());
}

template void normalize_rows(const Normalization<float>&, Centring, Matrix<float>&, Vector<float>&);
template void normalize_part(const Normalization<float>&, Centring, const Vector<float>&, Matrix<float>&);

NormalizedSummands normalize(const std::vector<Matrix<double>>& summands,
                             const Normalization<double>& normalization) {
  eigen_assert(!summands.empty());
  const Index n = summands[0].rows(), d = summands[0].cols();
  const Index count = static_cast<Index>(summands.size());
  NormalizedSummands result;
  result.tokens = n;
  result.stack.resize((1 + count) * n, d);
  result.sigma.resize(n);

  // Token by token, while its rows are in the cache.
  for (Index i = 0; i < n; ++i) {
    double* const sum = &result.stack(i, 0);
    for (Index s = 0; s < count; ++s) {
      const double* const row = &summands[s](i, 0);
      for (Index c = 0; c < d; ++c) sum[c] = s ? sum[c] + row[c] : row[c];
      std::copy(row, row + d, &result.stack((1 + s) * n + i, 0));
    }
    result.sigma[i] = 1;
    if (normalization.kind == Norm::none) continue;

    // Centring once is enough: a sum of float32 numbers that are close together is exact here. Where float64
    // numbers have an offset of M sigma, the mean's rounding, at most d/2 units in the last place, moves the
    // result by d M / 2 of its own; a change of the input by one unit moves it by M.
    result.sigma[i] = normalize_row(normalization, Centring::once, sum, d);
    for (Index s = 1; s <= count; ++s)
      normalize_part_row(normalization, Centring::once, result.sigma[i], &result.stack(s * n + i, 0), d);
  }
  return result;
}

}  // namespace superpose
