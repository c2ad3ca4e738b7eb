#include "layer_norm.h"

namespace superpose {
namespace {

template <typename Scalar>
Matrix<Scalar> centred_rows(const Matrix<Scalar>& rows) {
  return rows.colwise() - rows.rowwise().mean();
}

}  // namespace

template <typename Scalar>
NormalizedSummands<Scalar> normalize(const std::vector<Matrix<Scalar>>& summands,
                                     const Normalization<Scalar>& normalization) {
  eigen_assert(!summands.empty());
  const Eigen::Index d = summands[0].cols();

  Matrix<Scalar> sum = summands[0];
  for (std::size_t s = 1; s < summands.size(); ++s) sum += summands[s];

  NormalizedSummands<Scalar> result;
  if (normalization.kind == Norm::none) {
    result.parts = summands;
    result.whole = sum;
    result.sigma = Vector<Scalar>::Ones(sum.rows());
    return result;
  }

  const bool centre = normalization.kind == Norm::layer_norm;
  const auto centred = [centre](const Matrix<Scalar>& rows) -> Matrix<Scalar> {
    return centre ? centred_rows(rows) : rows;
  };
  const Vector<Scalar> gamma =
      normalization.gamma.size() ? normalization.gamma : Vector<Scalar>::Ones(d);

  result.whole = centred(sum);
  result.sigma = (result.whole.rowwise().squaredNorm().array() / static_cast<Scalar>(d) +
                  normalization.epsilon)
                     .sqrt();
  const auto scaled = [&](const Matrix<Scalar>& rows) -> Matrix<Scalar> {
    return result.sigma.cwiseInverse().asDiagonal() * rows * gamma.asDiagonal();
  };

  for (const Matrix<Scalar>& summand : summands) result.parts.push_back(scaled(centred(summand)));
  result.whole = scaled(result.whole);
  if (normalization.beta.size()) result.whole.rowwise() += normalization.beta.transpose();
  return result;
}

template NormalizedSummands<float> normalize(const std::vector<Matrix<float>>&,
                                             const Normalization<float>&);
template NormalizedSummands<double> normalize(const std::vector<Matrix<double>>&,
                                              const Normalization<double>&);

}  // namespace superpose
