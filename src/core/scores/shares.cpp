#include "scores/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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

// One pass over the rows. A centred row sums to zero, so its product with a term is that with the term's
// own row centred; subtracting the term's mean all the same keeps what is constant in j at nothing.
template <typename Scalar>
Covariances row_centred_covariances(const Scalar* terms, int count, const Scalar* logits, Eigen::Index n) {
  const auto largest = [](const Scalar* values, Eigen::Index size) {
    return size ? double(Eigen::Map<const Vector<Scalar>>(values, size).cwiseAbs().maxCoeff()) : 0.0;
  };
  Covariances result;
  result.terms.setZero(count);
  std::vector<double> centred(n);
  const auto mean = [n](const Scalar* row) {
    return sum_of(row, n, [](Eigen::Index) { return 1.0; }) / static_cast<double>(n);
  };
  // Centred logits are scaled to 1 before they are squared.
  int exponent = 0;
  const double size = largest(logits, n * n);
  std::frexp(size, &exponent);
  const double half = std::ldexp(1, -exponent / 2), rest_of_scale = std::ldexp(1, -exponent + exponent / 2);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double centre = mean(logits + i * n);
    for (Eigen::Index j = 0; j < n; ++j) centred[j] = (logits[i * n + j] - centre) * half * rest_of_scale;
    const auto whole = [&](Eigen::Index j) { return centred[j]; };
    result.logits += sum_of(centred.data(), n, whole);
    const double rest = sum_of(centred.data(), n, [](Eigen::Index) { return 1.0; });
    for (int t = 0; t < count; ++t) {
      const Scalar* const row = terms + (t * n + i) * n;
      result.terms[t] += sum_of(row, n, whole) - mean(row) * rest;
    }
  }
  const double noise = 64 * double(std::numeric_limits<Scalar>::epsilon()) * static_cast<double>(n) *
                       std::ldexp(std::max(size, largest(terms, count * n * n)), -exponent);
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

template <typename Scalar>
double raw_share(const Matrix<Scalar>& term, const Matrix<Scalar>& logits) {
  const int exponent = exponent_of(logits);
  const Matrix<double> unit = times_power_of_two<Matrix<double>>(logits.template cast<double>(), -exponent);
  const auto product = [&](const auto& of) {
    return sum_of(of.data(), of.size(), [&](Eigen::Index k) { return unit.data()[k]; });
  };
  return std::ldexp(product(term), -exponent) / product(unit);
}

template double raw_share(const Matrix<float>&, const Matrix<float>&);
template double raw_share(const Matrix<double>&, const Matrix<double>&);

template Covariances row_centred_covariances(const float*, int, const float*, Eigen::Index);
template Covariances row_centred_covariances(const double*, int, const double*, Eigen::Index);

}  // namespace superpose
