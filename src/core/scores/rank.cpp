#include "scores/rank.h"

#include <algorithm>

#include "encodings/channels.h"
#include "numeric/orthogonal.h"
#include "numeric/power_of_two.h"

namespace superpose {

int numerical_rank(const Matrix<double>& matrix, double tolerance) {
  return numerical_rank(singular_values(normalized(matrix)), tolerance);
}

ScoreRanks score_ranks(int n, int d_t, int d_p, int d_h, int d_h_position) {
  return {std::min({n, d_h, d_t}), std::min({n, d_h, d_t + d_p}),
          std::min(n, std::min(d_h, d_t) + std::min(d_h_position, d_p))};
}

}  // namespace superpose
