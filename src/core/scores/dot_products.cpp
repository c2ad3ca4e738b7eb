#include "scores/dot_products.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/power_of_two.h"
#include "numeric/product.h"

namespace superpose {

DotProducts dot_products(const Matrix<double>& token, const Matrix<double>& position, double position_scale) {
  eigen_assert(token.rows() == position.rows());
  const Matrix<double> scaled = position_scale * position;

  DotProducts result;
  result.token_token = pairs_of_rows<double>(token, token);
  result.position_position = pairs_of_rows<double>(scaled, scaled);

  const Matrix<double> joined = join_columns(token, scaled);
  result.concatenated = pairs_of_rows<double>(joined, joined);

  if (token.cols() == position.cols()) {
    result.token_position = pairs_of_rows<double>(token, scaled);
    result.position_token = result.token_position.transpose();
    const Matrix<double> sum = token + scaled;
    result.added = pairs_of_rows<double>(sum, sum);
  }
  return result;
}

namespace {

Eigen::ArrayXd pairs_of(const Matrix<double>& matrix) {
  const Eigen::Index n = matrix.rows();
  Eigen::ArrayXd pairs(n * (n - 1) / 2);
  Eigen::Index next = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = i + 1; j < n; ++j) pairs[next++] = static_cast<double>(matrix(i, j));
  }
  return pairs;
}

// The pairs, scaled by a power of two, minus their mean; with that mean and their deviation.
struct Centred {
  Eigen::ArrayXd pairs;
  double mean = 0, deviation = 0;  // in the unit 2^exponent
  int exponent = 0;
};

Centred centred_pairs(const Matrix<double>& matrix) {
  Centred result{pairs_of(matrix)};
  const double count = static_cast<double>(result.pairs.size());
  result.exponent = exponent_of(result.pairs.matrix());
  result.pairs = times_power_of_two(result.pairs, -result.exponent);
  const double size = std::sqrt(result.pairs.square().sum() / count);
  result.mean = result.pairs.sum() / count;
  result.pairs -= result.mean;
  result.deviation = std::sqrt(result.pairs.square().sum() / count);
  // Equal pairs differ from their mean by rounding, which is no deviation.
  if (result.deviation <= count * std::numeric_limits<double>::epsilon() * size) result.deviation = 0;
  return result;
}

}  // namespace

PairMoments pair_moments(const Matrix<double>& matrix) {
  const Centred pairs = centred_pairs(matrix);
  return {std::ldexp(pairs.mean, pairs.exponent), std::ldexp(pairs.deviation, pairs.exponent)};
}

double pair_correlation(const Matrix<double>& a, const Matrix<double>& b) {
  const Centred left = centred_pairs(a), right = centred_pairs(b);
  const double deviations = left.deviation * right.deviation;
  if (!(deviations > 0)) return std::numeric_limits<double>::quiet_NaN();
  const double covariance = (left.pairs * right.pairs).sum() / static_cast<double>(left.pairs.size());
  return std::clamp(covariance / deviations, -1.0, 1.0);
}

}  // namespace superpose
