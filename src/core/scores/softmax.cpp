#include "scores/softmax.h"

#include <algorithm>
#include <cmath>

namespace superpose {
namespace {

// Calls work(row, seen) for each row, whose query sees so many keys, and fills the rest.
template <typename Work>
void each_row(Matrix<double>& logits, bool causal, double rest, const Work& work) {
  const Eigen::Index n = logits.cols();
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    double* const row = logits.data() + i * n;
    const Eigen::Index seen = causal ? i + 1 : n;
    work(row, seen);
    std::fill(row + seen, row + n, rest);
  }
}

}  // namespace

void softmax_rows(Matrix<double>& logits, bool causal) {
  each_row(logits, causal, 0.0, [](double* row, Eigen::Index seen) {
    const double largest = *std::max_element(row, row + seen);
    double sum = 0;
    for (Eigen::Index j = 0; j < seen; ++j) sum += row[j] = std::exp(row[j] - largest);
    for (Eigen::Index j = 0; j < seen; ++j) row[j] /= sum;
  });
}

Matrix<double> seen_by_softmax(Matrix<double> logits, bool causal) {
  each_row(logits, causal, NAN, [](double* row, Eigen::Index seen) {
    const double first = row[0];
    double sum = 0;
    for (Eigen::Index j = 0; j < seen; ++j) sum += row[j] -= first;
    for (Eigen::Index j = 0; j < seen; ++j) row[j] -= sum / static_cast<double>(seen);
  });
  return logits;
}

}  // namespace superpose
