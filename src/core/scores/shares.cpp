#include "scores/shares.h"

#include <vector>

namespace superpose {
template <typename Scalar>
Matrix<Scalar> row_centred(const Matrix<Scalar>& logits) {
  if (logits.size() == 0) return logits;
  return logits.colwise() - logits.rowwise().mean();
}

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
  Covariances result;
  result.terms.setZero(count);
  std::vector<double> centred(n);
  const auto mean = [n](const Scalar* row) {
    return sum_of(row, n, [](Eigen::Index) { return 1.0; }) / static_cast<double>(n);
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    const double centre = mean(logits + i * n);
    for (Eigen::Index j = 0; j < n; ++j) centred[j] = logits[i * n + j] - centre;
    const auto whole = [&](Eigen::Index j) { return centred[j]; };
    result.logits += sum_of(centred.data(), n, whole);
    const double rest = sum_of(centred.data(), n, [](Eigen::Index) { return 1.0; });
    for (int t = 0; t < count; ++t) {
      const Scalar* const row = terms + (t * n + i) * n;
      result.terms[t] += sum_of(row, n, whole) - mean(row) * rest;
    }
  }
  return result;
}

template <typename Scalar>
double raw_share(const Matrix<Scalar>& term, const Matrix<Scalar>& logits) {
  const auto product = [&](const Matrix<Scalar>& of) {
    const Scalar* const values = logits.data();
    return sum_of(of.data(), of.size(), [&](Eigen::Index k) { return double(values[k]); });
  };
  return product(term) / product(logits);
}

template double raw_share(const Matrix<float>&, const Matrix<float>&);
template double raw_share(const Matrix<double>&, const Matrix<double>&);

template Covariances row_centred_covariances(const float*, int, const float*, Eigen::Index);
template Covariances row_centred_covariances(const double*, int, const double*, Eigen::Index);

template Matrix<float> row_centred(const Matrix<float>&);
template Matrix<double> row_centred(const Matrix<double>&);

}  // namespace superpose
