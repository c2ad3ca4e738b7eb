#include "scores/softmax.h"

#include <algorithm>
#include <cmath>

#include "numeric/in_place.h"

namespace superpose {
namespace {

// Calls work(row, seen) for each row, whose query sees the first `seen` keys; sets the others to `rest`.
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
    softmax<double>({row, seen}, 1, seen);
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
