#include "scores/softmax.h"

#include <algorithm>
#include <cmath>

namespace superpose {
namespace {

// Calls work(row, seen) for each row, `row` the first key that its query sees and `seen` how many, and fills the rest.
template <typename Scalar, typename Work>
void each_row(Matrix<Scalar>& logits, bool causal, int window, Scalar rest, const Work& work) {
  const Eigen::Index n = logits.cols();
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    Scalar* const row = logits.data() + i * n;
    const Eigen::Index from = std::max<Eigen::Index>(0, i - window);
    // Not i + window, which may be too large for an Index.
    const Eigen::Index to = causal ? i + 1 : n - std::max<Eigen::Index>(0, n - 1 - i - window);
    work(row + from, to - from);
    std::fill(row, row + from, rest);
    std::fill(row + to, row + n, rest);
  }
}

}  // namespace

template <typename Scalar>
void softmax_rows(Matrix<Scalar>& logits, bool causal, int window) {
  each_row(logits, causal, window, Scalar(0), [](Scalar* row, Eigen::Index seen) {
    const Scalar largest = *std::max_element(row, row + seen);
    Scalar sum = 0;
    for (Eigen::Index j = 0; j < seen; ++j) sum += row[j] = std::exp(row[j] - largest);
    for (Eigen::Index j = 0; j < seen; ++j) row[j] /= sum;
  });
}

template <typename Scalar>
void soft_cap(double cap, Matrix<Scalar>& logits) {
  if (cap == 0) return;
  // std::tanh, exact to the last place of small logits too, would make each module 0.6 kB larger.
  for (Eigen::Index at = 0; at < logits.size(); ++at) {
    logits.data()[at] = static_cast<Scalar>(cap * (1 - 2 / (1 + std::exp(2 * (logits.data()[at] / cap)))));
  }
}

template <typename Scalar>
Matrix<Scalar> seen_by_softmax(Matrix<Scalar> logits, bool causal, int window) {
  each_row(logits, causal, window, Scalar(NAN), [](Scalar* row, Eigen::Index seen) {
    const Scalar first = row[0];
    Scalar sum = 0;
    for (Eigen::Index j = 0; j < seen; ++j) sum += row[j] -= first;
    for (Eigen::Index j = 0; j < seen; ++j) row[j] -= sum / static_cast<Scalar>(seen);
  });
  return logits;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                     \
  template void softmax_rows(Matrix<Scalar>&, bool, int); \
  template void soft_cap(double, Matrix<Scalar>&);        \
  template Matrix<Scalar> seen_by_softmax(Matrix<Scalar>, bool, int);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
