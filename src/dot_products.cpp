#include "dot_products.h"

namespace superpose {

template <typename Scalar>
DotProducts<Scalar> dot_products(const Matrix<Scalar>& token, const Matrix<Scalar>& position,
                                 Scalar position_scale) {
  eigen_assert(token.rows() == position.rows());
  const Matrix<Scalar> scaled = position_scale * position;

  DotProducts<Scalar> result;
  result.token_token.noalias() = token * token.transpose();
  result.position_position.noalias() = scaled * scaled.transpose();

  const Matrix<Scalar> joined = join_columns(token, scaled);
  result.concatenated.noalias() = joined * joined.transpose();

  if (token.cols() == position.cols()) {
    result.token_position.noalias() = token * scaled.transpose();
    result.position_token.noalias() = scaled * token.transpose();
    const Matrix<Scalar> sum = token + scaled;
    result.added.noalias() = sum * sum.transpose();
  }
  return result;
}

template DotProducts<float> dot_products(const Matrix<float>&, const Matrix<float>&, float);
template DotProducts<double> dot_products(const Matrix<double>&, const Matrix<double>&, double);

}  // namespace superpose
