#include "geometry/mean_decomposition.h"

#include <limits>

#include "numeric/power_of_two.h"

namespace superpose {
namespace {

// Means of the rows of each group; zeros for a group without rows.
Matrix<double> group_means(const Matrix<double>& rows, const std::vector<int>& group_of, int groups) {
  Matrix<double> means = Matrix<double>::Zero(groups, rows.cols());
  Vector<double> counts = Vector<double>::Zero(groups);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    means.row(group_of[i]) += rows.row(i);
    counts[group_of[i]] += 1;
  }
  for (int g = 0; g < groups; ++g) {
    if (counts[g] > 0) means.row(g) /= counts[g];
  }
  return means;
}

}  // namespace

MeanDecomposition mean_decomposition(const Matrix<double>& given, const std::vector<int>& position_of,
                                     int positions, const std::vector<int>& token_of, int tokens) {
  const int exponent = exponent_of(given);
  const Matrix<double> rows = times_power_of_two(given, -exponent);
  MeanDecomposition result;
  result.global = Vector<double>::Zero(rows.cols());
  if (rows.rows()) result.global = rows.colwise().mean().transpose();
  result.residual = rows.rowwise() - result.global.transpose();
  double energy = result.residual.squaredNorm();
  // Equal rows differ from their mean by rounding, which must not count as variation.
  const double rounding = static_cast<double>(rows.rows()) * std::numeric_limits<double>::epsilon();
  if (energy <= rounding * rounding * rows.squaredNorm()) energy = std::numeric_limits<double>::quiet_NaN();

  result.position = group_means(result.residual, position_of, positions);
  result.token = group_means(result.residual, token_of, tokens);
  double of_position = 0;
  double of_token = 0;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const auto position = result.position.row(position_of[i]);
    const auto token = result.token.row(token_of[i]);
    of_position += position.squaredNorm();
    of_token += token.squaredNorm();
    result.residual.row(i) -= position + token;
  }
  result.position_share = of_position / energy;
  result.token_share = of_token / energy;
  result.residual_share = result.residual.squaredNorm() / energy;
  result.overlap = 1 - result.position_share - result.token_share - result.residual_share;
  result.global = times_power_of_two(result.global, exponent);
  result.position = times_power_of_two(result.position, exponent);
  result.token = times_power_of_two(result.token, exponent);
  result.residual = times_power_of_two(result.residual, exponent);
  return result;
}

MovedMean move_mean(const Matrix<double>& from, const Matrix<double>& to, double amount) {
  const Matrix<double> moved = (amount * from.colwise().mean()).replicate(from.rows(), 1);
  return {from - moved, to + moved};
}

}  // namespace superpose
