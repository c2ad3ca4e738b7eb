#include "scores/shares.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numeric/centred.h"
#include "numeric/lanes.h"
#include "numeric/power_of_two.h"

namespace superpose {
namespace {

// What one row of a term contributes.
struct RowSums {
  double values = 0;    // sum_j x_j
  double products = 0;  // sum_j w_j x_j
};

// For a row x and factors w, both of `size` numbers. Four sums run side by side, in two vectors.
template <typename Scalar>
RowSums row_sums(const Scalar* x, const double* w, Eigen::Index size) {
  using S = Simd<double>;
  Lanes<double> values[2] = {}, products[2] = {};
  Eigen::Index j = 0;
  for (; j + 4 <= size; j += 4) {
    const FourDoubles four = load_as_doubles(x + j);
    values[0] += four.low;
    values[1] += four.high;
    products[0] += S::load(w + j) * four.low;
    products[1] += S::load(w + j + 2) * four.high;
  }
  for (; j < size; ++j) {
    values[0][0] += x[j];
    products[0][0] += w[j] * x[j];
  }
  return {sum(values[0]) + sum(values[1]), sum(products[0]) + sum(products[1])};
}

}  // namespace

// One pass over the rows. A centred row sums to zero, so its product with a term is the same as with the
// term's centred row. The term's mean is subtracted all the same, so that terms that are constant in j give
// exactly 0.
template <typename Scalar>
Covariances row_centred_covariances(const Scalar* terms, int count, const Scalar* logits, Eigen::Index n,
                                    const CountedPairs& counted) {
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
  // Centred logits are scaled to 1 before they are squared.
  Scalar largest_logit = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Scalar* const row = row_of(logits, i);
    largest_logit = std::max(largest_logit, largest_magnitude(row, size));
  }
  int exponent = 0;
  std::frexp(static_cast<double>(largest_logit), &exponent);
  const double half = std::ldexp(1, -exponent / 2), rest_of_scale = std::ldexp(1, -exponent + exponent / 2);
  Scalar largest = largest_logit;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!counted.counts(i, i)) continue;
    const Scalar* const logit_row = row_of(logits, i);
    const double keys = static_cast<double>(size);
    // Only the sum of the logits is used here; `centred` is filled with this row below.
    const double centre = row_sums(logit_row, centred.data(), size).values / keys;
    for (Eigen::Index j = 0; j < size; ++j) centred[j] = (logit_row[j] - centre) * half * rest_of_scale;
    const RowSums of_logits = row_sums(centred.data(), centred.data(), size);
    result.logits += of_logits.products;
    for (int t = 0; t < count; ++t) {
      const Scalar* const row = row_of(terms + t * n * n, i);
      const RowSums of_term = row_sums(row, centred.data(), size);
      result.terms[t] += of_term.products - of_term.values / keys * of_logits.values;
      largest = std::max(largest, largest_magnitude(row, size));
    }
  }
  const double scaled = std::ldexp(static_cast<double>(largest), -exponent);
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
