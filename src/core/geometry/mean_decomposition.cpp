#include "geometry/mean_decomposition.h"

namespace superpose {
namespace {

// Means of the rows of each group; a group without rows has zeros.
Matrix<double> group_means(const Matrix<double>& rows, const std::vector<int>& group_of, int groups,
                           Vector<double>& counts) {
  Matrix<double> means = Matrix<double>::Zero(groups, rows.cols());
  counts = Vector<double>::Zero(groups);
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

MeanDecomposition mean_decomposition(const Matrix<double>& rows, const std::vector<int>& position_of,
                                     int positions, const std::vector<int>& token_of, int tokens) {
  MeanDecomposition result;
  result.global = Vector<double>::Zero(rows.cols());
  if (rows.rows()) result.global = rows.colwise().mean().transpose();
  result.residual = rows.rowwise() - result.global.transpose();
  const double energy = result.residual.squaredNorm();

  result.position = group_means(result.residual, position_of, positions, result.position_counts);
  result.token = group_means(result.residual, token_of, tokens, result.token_counts);
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
  return result;
}

}  // namespace superpose
