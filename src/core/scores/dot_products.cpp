#include "scores/dot_products.h"

#include <cmath>

#include "numeric/product.h"

namespace superpose {

template <typename Scalar>
DotProducts<Scalar> dot_products(const Matrix<Scalar>& token, const Matrix<Scalar>& position,
                                 Scalar position_scale) {
  eigen_assert(token.rows() == position.rows());
  const Matrix<Scalar> scaled = position_scale * position;

  DotProducts<Scalar> result;
  result.token_token = rows_times_rows<Scalar>(token, token);
  result.position_position = rows_times_rows<Scalar>(scaled, scaled);

  const Matrix<Scalar> joined = join_columns(token, scaled);
  result.concatenated = rows_times_rows<Scalar>(joined, joined);

  if (token.cols() == position.cols()) {
    result.token_position = rows_times_rows<Scalar>(token, scaled);
    result.position_token = rows_times_rows<Scalar>(scaled, token);
    const Matrix<Scalar> sum = token + scaled;
    result.added = rows_times_rows<Scalar>(sum, sum);
  }
  return result;
}

namespace {

template <typename Scalar>
Eigen::ArrayXd pairs_of(const Matrix<Scalar>& matrix) {
  const Eigen::Index n = matrix.rows();
  Eigen::ArrayXd pairs(n * (n - 1) / 2);
  Eigen::Index next = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = i + 1; j < n; ++j) pairs[next++] = static_cast<double>(matrix(i, j));
  }
  return pairs;
}

PairMoments moments_of(const Eigen::ArrayXd& pairs) {
  const double count = static_cast<double>(pairs.size());
  const double mean = pairs.sum() / count;
  return {mean, std::sqrt((pairs - mean).square().sum() / count)};
}

}  // namespace

template <typename Scalar>
PairMoments pair_moments(const Matrix<Scalar>& matrix) {
  return moments_of(pairs_of(matrix));
}

template <typename Scalar>
double pair_correlation(const Matrix<Scalar>& a, const Matrix<Scalar>& b) {
  const Eigen::ArrayXd left = pairs_of(a), right = pairs_of(b);
  const PairMoments of_left = moments_of(left), of_right = moments_of(right);
  const double covariance =
      ((left - of_left.mean) * (right - of_right.mean)).sum() / static_cast<double>(left.size());
  return covariance / (of_left.deviation * of_right.deviation);
}

template PairMoments pair_moments(const Matrix<float>&);
template PairMoments pair_moments(const Matrix<double>&);
template double pair_correlation(const Matrix<float>&, const Matrix<float>&);
template double pair_correlation(const Matrix<double>&, const Matrix<double>&);
template DotProducts<float> dot_products(const Matrix<float>&, const Matrix<float>&, float);
template DotProducts<double> dot_products(const Matrix<double>&, const Matrix<double>&, double);

}  // namespace superpose
