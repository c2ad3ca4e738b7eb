#include "scores/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/power_of_two.h"

namespace superpose {
namespace {

double mean_of(const double* row, Eigen::Index size) {
  double sum = 0;
  for (Eigen::Index c = 0; c < size; ++c) sum += row[c];
  return sum / static_cast<double>(size);
}

// sqrt(|row|^2 / size + epsilon), correct whenever the result itself can be represented.
double root_mean_square(const double* row, Eigen::Index size, double epsilon) {
  using Limits = std::numeric_limits<double>;
  double squares = 0;
  for (Eigen::Index c = 0; c < size; ++c) squares += row[c] * row[c];
  if (squares <= Limits::max() && squares >= Limits::min() / (Limits::epsilon() * Limits::epsilon())) {
    return std::sqrt(squares / static_cast<double>(size) + epsilon);
  }
  // Squares have overflowed, or lost digits: compute again in another unit.
  const Eigen::Map<const Vector<double>> given(row, size);
  const int exponent = exponent_of(given);
  const double mean =
      times_power_of_two<Vector<double>>(given, -exponent).squaredNorm() / static_cast<double>(size);
  return std::hypot(std::ldexp(std::sqrt(mean), exponent), std::sqrt(epsilon));
}

}  // namespace

NormalizedSummands normalize(const std::vector<Matrix<double>>& summands,
                             const Normalization<double>& normalization) {
  eigen_assert(!summands.empty());
  const Eigen::Index n = summands[0].rows(), d = summands[0].cols();
  const Eigen::Index count = static_cast<Eigen::Index>(summands.size());
  NormalizedSummands result;
  result.tokens = n;
  result.stack.resize((1 + count) * n, d);
  result.sigma.resize(n);
  const bool centre = normalization.kind == Norm::layer_norm;

  // Token by token, while its rows are in the cache.
  for (Eigen::Index i = 0; i < n; ++i) {
    double* const whole = &result.stack(i, 0);
    for (Eigen::Index s = 0; s < count; ++s) {
      const double* const row = &summands[s](i, 0);
      for (Eigen::Index c = 0; c < d; ++c) whole[c] = s ? whole[c] + row[c] : row[c];
      std::copy(row, row + d, &result.stack((1 + s) * n + i, 0));
    }
    result.sigma[i] = 1;
    if (normalization.kind == Norm::none) continue;

    // Once is enough: a sum of float32 numbers that are close together is exact here. Where float64 numbers have
    // an offset of M sigma, the mean's rounding, at most d/2 units in the last place, moves the result by d M / 2
    // of its own; a change of the input by one unit moves it by M.
    for (Eigen::Index s = 0; centre && s <= count; ++s) {
      double* const row = &result.stack(s * n + i, 0);
      const double mean = mean_of(row, d);
      for (Eigen::Index c = 0; c < d; ++c) row[c] -= mean;
    }
    result.sigma[i] = root_mean_square(whole, d, normalization.epsilon);
    const double inverse = 1 / result.sigma[i];
    for (Eigen::Index s = 0; s <= count; ++s) {
      double* const row = &result.stack(s * n + i, 0);
      for (Eigen::Index c = 0; c < d; ++c) row[c] *= inverse;
      if (!normalization.gamma.size()) continue;
      for (Eigen::Index c = 0; c < d; ++c) row[c] *= normalization.gamma[c];
    }
    if (!normalization.beta.size()) continue;
    for (Eigen::Index c = 0; c < d; ++c) whole[c] += normalization.beta[c];
  }
  return result;
}

}  // namespace superpose
