#include <algorithm>

#include "scores/layer_norm.h"
#include "scores/layer_norm_row.h"

namespace superpose {

NormalizedSummands normalize(const std::vector<Matrix<double>>& summands,
                             const Normalization<double>& normalization) {
  eigen_assert(!summands.empty());
  const Eigen::Index n = summands[0].rows(), d = summands[0].cols();
  const Eigen::Index count = static_cast<Eigen::Index>(summands.size());
  NormalizedSummands result;
  result.tokens = n;
  result.stack.resize((1 + count) * n, d);
  result.sigma.resize(n);

  // Token by token, so that the norm finds the token's rows in the cache.
  for (Eigen::Index i = 0; i < n; ++i) {
    double* const sum = &result.stack(i, 0);
    for (Eigen::Index s = 0; s < count; ++s) {
      const double* const row = &summands[s](i, 0);
      for (Eigen::Index c = 0; c < d; ++c) sum[c] = s ? sum[c] + row[c] : row[c];
      std::copy(row, row + d, &result.stack((1 + s) * n + i, 0));
    }
    result.sigma[i] = 1;
    if (normalization.kind == Norm::none) continue;

    // Centring once is enough: a sum of float32 numbers that are close together is exact here. If float64
    // numbers have an offset of M sigma, rounding their mean, by at most d/2 units in the last place, moves
    // the result by d M / 2 units in its last place. Changing the input by one unit already moves it by M.
    result.sigma[i] = normalize_row(normalization, Centring::once, sum, d);
    for (Eigen::Index s = 1; s <= count; ++s)
      normalize_part_row(normalization, Centring::once, result.sigma[i], &result.stack(s * n + i, 0), d);
  }
  return result;
}

}  // namespace superpose
