#include "softmax.h"

namespace superpose {

template <typename Scalar>
void softmax_rows(Eigen::Ref<Matrix<Scalar>> logits) {
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    auto row = logits.row(i).array();
    row = (row - row.maxCoeff()).exp();
    row /= row.sum();
  }
}

template <typename Scalar>
Matrix<Scalar> softmax_of_terms(const Scalar* terms, Eigen::Index n,
                                const std::vector<bool>& included) {
  Matrix<Scalar> sum = Matrix<Scalar>::Zero(n, n);
  for (std::size_t t = 0; t < included.size(); ++t) {
    if (included[t]) sum += ConstMatrixMap<Scalar>(terms + t * n * n, n, n);
  }
  softmax_rows<Scalar>(sum);
  return sum;
}

template void softmax_rows<float>(Eigen::Ref<Matrix<float>>);
template void softmax_rows<double>(Eigen::Ref<Matrix<double>>);
template Matrix<float> softmax_of_terms(const float*, Eigen::Index, const std::vector<bool>&);
template Matrix<double> softmax_of_terms(const double*, Eigen::Index, const std::vector<bool>&);

}  // namespace superpose
