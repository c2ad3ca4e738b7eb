#include "scores/pooled_shares.h"

#include "numeric/power_of_two.h"

namespace superpose {

PooledShares pooled_shares(const Matrix<double>& given, const Vector<double>& given_variances, int heads,
                           const std::vector<int>& group_of, int groups) {
  const int exponent = exponent_of(given_variances);
  const Matrix<double> covariances = times_power_of_two(given, -exponent);
  const Vector<double> variances = times_power_of_two(given_variances, -exponent);
  Matrix<double> sums = Matrix<double>::Zero(heads, groups);
  Vector<double> variation = Vector<double>::Zero(heads);
  for (Eigen::Index row = 0; row < covariances.rows(); ++row) {
    const Eigen::Index head = row % heads;
    for (std::size_t term = 0; term < group_of.size(); ++term) {
      sums(head, group_of[term]) += covariances(row, term);
    }
    variation[head] += variances[row];
  }
  PooledShares result{sums, Vector<double>::Zero(groups), Vector<double>::Zero(groups)};
  double whole = 0;
  for (int head = 0; head < heads; ++head) whole += variation[head];
  for (int head = 0; head < heads; ++head) {
    for (int group = 0; group < groups; ++group) {
      double& share = result.heads(head, group);
      result.pooled[group] += share / whole;
      share /= variation[head];
      result.mean[group] += share / heads;
    }
  }
  return result;
}

}  // namespace superpose
