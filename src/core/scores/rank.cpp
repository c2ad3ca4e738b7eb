#include "scores/rank.h"

#include <algorithm>

#include "numeric/factorize.h"

namespace superpose {

int numerical_rank(const Matrix<double>& matrix, double tolerance) {
  const Vector<double> values = singular_values(matrix);
  if (values.size() == 0) return 0;
  return static_cast<int>((values.array() > tolerance * values[0]).count());
}

ScoreRanks score_ranks(int n, int d_t, int d_p, int d_h, int d_h_position) {
  return {std::min({n, d_h, d_t}), std::min({n, d_h, d_t + d_p}),
          std::min(n, std::min(d_h, d_t) + std::min(d_h_position, d_p))};
}

}  // namespace superpose
