#include "shares.h"

namespace superpose {
template <typename Scalar>
Matrix<Scalar> row_centred(const Matrix<Scalar>& logits) {
  if (logits.size() == 0) return logits;
  return logits.colwise() - logits.rowwise().mean();
}

namespace {

template <typename Scalar>
Matrix<double> row_centred_doubles(const Scalar* values, Eigen::Index n) {
  return row_centred<double>(ConstMatrixMap<Scalar>(values, n, n).template cast<double>());
}

}  // namespace

template <typename Scalar>
Covariances row_centred_covariances(const Scalar* terms, int count, const Scalar* logits,
                                    Eigen::Index n) {
  const Matrix<double> whole = row_centred_doubles(logits, n);
  Covariances result;
  result.logits = whole.squaredNorm();
  result.terms.resize(count);
  for (int t = 0; t < count; ++t) {
    result.terms[t] = row_centred_doubles(terms + t * n * n, n).cwiseProduct(whole).sum();
  }
  return result;
}

template Covariances row_centred_covariances(const float*, int, const float*, Eigen::Index);
template Covariances row_centred_covariances(const double*, int, const double*, Eigen::Index);

template Matrix<float> row_centred(const Matrix<float>&);
template Matrix<double> row_centred(const Matrix<double>&);

}  // namespace superpose
