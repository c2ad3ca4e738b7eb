#include "scores/softmax.h"

#include <algorithm>
#include <cmath>

namespace superpose {
namespace {

// Calls work(row, seen) for each row, whose query sees so many keys, and fills the rest.
template <typename Scalar, typename Work>
void each_row(Matrix<Scalar>& logits, bool causal, Scalar rest, const Work& work) {
  const Eigen::Index n = logits.cols();
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    Scalar* const row = logits.data() + i * n;
    const Eigen::Index seen = causal ? i + 1 : n;
    work(row, seen);
    std::fill(row + seen, row + n, rest);
  }
}

}  // namespace

template <typename Scalar>
void softmax_rows(Matrix<Scalar>& logits, bool causal) {
  each_row(logits, causal, Scalar(0), [](Scalar* row, Eigen::Index seen) {
    const Scalar largest = *std::max_element(row, row + seen);
    Scalar sum = 0;
    for (Eigen::Index j = 0; j < seen; ++j) sum += row[j] = std::exp(row[j] - largest);
    for (Eigen::Index j = 0; j < seen; ++j) row[j] /= sum;
  });
}

template <typename Scalar>
Matrix<Scalar> seen_by_softmax(Matrix<Scalar> logits, bool causal) {
  each_row(logits, causal, Scalar(NAN), [](Scalar* row, Eigen::Index seen) {
    const Scalar first = row[0];
    Scalar sum = 0;
    for (Eigen::Index j = 0; j < seen; ++j) sum += row[j] -= first;
    for (Eigen::Index j = 0; j < seen; ++j) row[j] -= sum / static_cast<Scalar>(seen);
  });
  return logits;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                \
  template void softmax_rows(Matrix<Scalar>&, bool); \
  template Matrix<Scalar> seen_by_softmax(Matrix<Scalar>, bool);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
