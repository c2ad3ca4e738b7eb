#include "scores/softmax.h"

#include <algorithm>
#include <cmath>

namespace superpose {

template <typename Scalar>
void softmax_rows(Eigen::Ref<Matrix<Scalar>> logits) {
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    Scalar* const row = logits.data() + i * logits.outerStride();
    const Eigen::Index n = logits.cols();
    const Scalar largest = *std::max_element(row, row + n);
    Scalar sum = 0;
    for (Eigen::Index j = 0; j < n; ++j) sum += row[j] = std::exp(row[j] - largest);
    for (Eigen::Index j = 0; j < n; ++j) row[j] /= sum;
  }
}

template <typename Scalar>
Matrix<Scalar> softmax_of_terms(const Scalar* terms, Eigen::Index n, const std::vector<bool>& included) {
  Matrix<Scalar> weights = sum_of_terms(terms, n, included);
  softmax_rows<Scalar>(weights);
  return weights;
}

template void softmax_rows<float>(Eigen::Ref<Matrix<float>>);
template void softmax_rows<double>(Eigen::Ref<Matrix<double>>);
template Matrix<float> softmax_of_terms(const float*, Eigen::Index, const std::vector<bool>&);
template Matrix<double> softmax_of_terms(const double*, Eigen::Index, const std::vector<bool>&);

}  // namespace superpose
