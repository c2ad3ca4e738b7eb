#include "shares.h"

namespace superpose {
namespace {

template <typename Scalar>
Matrix<double> row_centred(const Scalar* values, Eigen::Index n) {
  Matrix<double> rows = ConstMatrixMap<Scalar>(values, n, n).template cast<double>();
  if (n) rows.colwise() -= rows.rowwise().mean().eval();
  return rows;
}

}  // namespace

template <typename Scalar>
Covariances row_centred_covariances(const Scalar* terms, int count, const Scalar* logits,
                                    Eigen::Index n) {
  const Matrix<double> whole = row_centred(logits, n);
  Covariances result;
  result.logits = whole.squaredNorm();
  result.terms.resize(count);
  for (int t = 0; t < count; ++t) {
    result.terms[t] = row_centred(terms + t * n * n, n).cwiseProduct(whole).sum();
  }
  return result;
}

template Covariances row_centred_covariances(const float*, int, const float*, Eigen::Index);
template Covariances row_centred_covariances(const double*, int, const double*, Eigen::Index);

}  // namespace superpose
