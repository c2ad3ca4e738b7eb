#include "scores/shares.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numeric/centred.h"
#include "numeric/power_of_two.h"

namespace superpose {
namespace {

// In four sums, which the compiler may keep in vectors.
template <typename Scalar, typename Factor>
double sum_of(const Scalar* values, Eigen::Index size, const Factor& factor) {
  double sums[4] = {};
  Eigen::Index j = 0;
  for (; j + 4 <= size; j += 4) {
    for (int lane = 0; lane < 4; ++lane) sums[lane] += factor(j + lane) * values[j + lane];
  }
  for (; j < size; ++j) sums[0] += factor(j) * values[j];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

// One pass over the rows. A centred row sums to zero, so its product with a term is the same as with the
// term's centred row. The term's mean is subtracted all the same, so that terms that are constant in j give
// exactly 0.
template <typename Scalar>
Covariances row_centred_covariances(const Scalar* terms, int count, const Scalar* logits, Eigen::Index n,
                                    const CountedPairs& counted) {
  const auto largest = [&](const Scalar* matrix) -> double {
    Scalar most = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        if (counted.counts(i, j)) most = std::max(most, std::abs(matrix[i * n + j]));
      }
    }
    return most;
  };
  Covariances result;
  result.terms.setZero(count);
  const bool all = counted.excluded.empty() && !counted.causal;
  std::vector<double> centred(n);
  std::vector<Scalar> gathered(all ? 0 : n);
  Eigen::Index size = n;
  // The keys of row i that count, packed together.
  const auto row_of = [&](const Scalar* matrix, Eigen::Index i) {
    const Scalar* const row = matrix + i * n;
    if (all) return row;
    size = 0;
    for (Eigen::Index j = 0; j < n; ++j) {
      if (counted.counts(i, j)) gathered[size++] = row[j];
    }
    return static_cast<const Scalar*>(gathered.data());
  };
  const auto mean = [&](const Scalar* row) {
    return sum_of(row, size, [](Eigen::Index) { return 1.0; }) / static_cast<double>(size);
  };
  // Centred logits are scaled to 1 before they are squared.
  int exponent = 0;
  double most = largest(logits);
  std::frexp(most, &exponent);
  const double half = std::ldexp(1, -exponent / 2), rest_of_scale = std::ldexp(1, -exponent + exponent / 2);
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!counted.counts(i, i)) continue;
    const Scalar* const logit_row = row_of(logits, i);
    const double centre = mean(logit_row);
    for (Eigen::Index j = 0; j < size; ++j) centred[j] = (logit_row[j] - centre) * half * rest_of_scale;
    const auto centred_logit = [&](Eigen::Index j) { return centred[j]; };
    result.logits += sum_of(centred.data(), size, centred_logit);
    const double rest = sum_of(centred.data(), size, [](Eigen::Index) { return 1.0; });
    for (int t = 0; t < count; ++t) {
      const Scalar* const row = row_of(terms + t * n * n, i);
      result.terms[t] += sum_of(row, size, centred_logit) - mean(row) * rest;
    }
  }
  for (int t = 0; t < count; ++t) most = std::max(most, largest(terms + t * n * n));
  const double scaled = std::ldexp(most, -exponent);
  const double noise = rounding_of<Scalar>(scaled, n);
  if (result.logits <= noise * noise) {
    result.logits = 0;
    result.terms.setZero();
  }
  result.shares.resize(count);
  for (int t = 0; t < count; ++t) {
    result.shares[t] = std::ldexp(result.terms[t], -exponent) / result.logits;
    result.terms[t] = std::ldexp(result.terms[t], exponent);
  }
  result.logits = std::ldexp(result.logits, 2 * exponent);
  return result;
}

template Covariances row_centred_covariances(const float*, int, const float*, Eigen::Index,
                                             const CountedPairs&);
template Covariances row_centred_covariances(const double*, int, const double*, Eigen::Index,
                                             const CountedPairs&);

PooledShares pooled_shares(const Matrix<double>& all_covariances, const Vector<double>& all_variances,
                           int heads, const std::vector<int>& group_of, int groups) {
  const int exponent = exponent_of(all_variances);
  const Matrix<double> covariances = times_power_of_two(all_covariances, -exponent);
  const Vector<double> variances = times_power_of_two(all_variances, -exponent);
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
  // A constant head has no shares; the mean and the pooled shares leave it out.
  double total = 0, varying = 0;
  for (int head = 0; head < heads; ++head) {
    total += variation[head];
    varying += variation[head] != 0;
  }
  for (int head = 0; head < heads; ++head) {
    const bool varies = variation[head] != 0;
    for (int group = 0; group < groups; ++group) {
      double& share = result.heads(head, group);
      result.pooled[group] += share / total;
      share /= variation[head];
      if (varies) result.mean[group] += share;
    }
  }
  result.mean /= varying;
  return result;
}

}  // namespace superpose
