#include "scores/gauge.h"

#include <algorithm>

namespace superpose {

using Eigen::Index;

namespace {

bool is_apart(const std::vector<char>& apart, Index row) { return !apart.empty() && apart[row]; }

}  // namespace

std::vector<char> row_flags(const std::vector<int>& rows, Index n) {
  std::vector<char> flags(rows.empty() ? 0 : n);
  for (int row : rows) flags[row] = 1;
  return flags;
}

template <typename Scalar>
Matrix<Scalar> project_means(const Matrix<Scalar>& means, const Normalization<Scalar>& normalization,
                             const PackedLinear<Scalar>& linear) {
  if (!means.size()) return means;
  const Index d = means.cols();
  Matrix<Scalar> rows = means;
  for (Index s = 0; s < rows.rows(); ++s) {
    Scalar* const row = rows.data() + s * d;
    Scalar mean = 0;
    for (Index c = 0; normalization.kind == Norm::layer_norm && c < d; ++c) mean += row[c];
    mean /= static_cast<Scalar>(d);
    for (Index c = 0; c < d; ++c) row[c] -= mean;
    for (Index c = 0; c < normalization.gamma.size(); ++c) row[c] *= normalization.gamma[c];
  }
  return rows_times_rows<Scalar>(rows, linear.weight);
}

template <typename Scalar>
void move_means_into_constant(const Matrix<Scalar>& given, Index column, const Vector<Scalar>& sigma,
                              const std::vector<char>& apart, Index from, Matrix<Scalar>& parts) {
  const Index n = sigma.size(), width = parts.cols(), summands = n ? (parts.rows() - from) / n - 1 : 0;
  Vector<Scalar> mean(width);
  for (Index s = 0; s < summands; ++s) {
    Scalar* const part = parts.data() + (from + s * n) * width;
    Scalar* const constant = parts.data() + (from + summands * n) * width;
    // A part is already projected and divided by sigma, so w_i times the undivided part is the part itself.
    Scalar weights = 0;
    for (Index c = 0; c < width; ++c) mean[c] = given.size() ? given(s, column + c) : 0;
    for (Index i = 0; !given.size() && i < n; ++i) {
      if (is_apart(apart, i)) continue;
      weights += 1 / sigma[i];
      for (Index c = 0; c < width; ++c) mean[c] += part[i * width + c];
    }
    if (weights == 0) weights = 1;
    for (Index i = 0; i < n; ++i) {
      const Scalar factor = 1 / (weights * sigma[i]);
      for (Index c = i * width; c < (i + 1) * width; ++c) {
        const Scalar taken = is_apart(apart, i) ? part[c] : mean[c - i * width] * factor;
        constant[c] += taken;
        part[c] -= taken;
      }
    }
  }
}

template <typename Scalar>
void apply_gauge(const Gauge<Scalar>& gauge, const ScoreLayer<Scalar>& layer, ProjectedParts<Scalar>& parts) {
  if (!gauge.moves_terms()) return;
  const std::vector<char> apart = row_flags(gauge.apart, parts.tokens);
  const auto turn = [&](const PackedLinear<Scalar>& linear, Matrix<Scalar>& stack) {
    move_means_into_constant(project_means(gauge.means, layer.normalization, linear), 0, parts.sigma, apart,
                             parts.tokens, stack);
  };
  turn(layer.query, parts.queries);
  turn(layer.key, parts.keys);
  // The constant now contains m_s / sigma_i, which differs from row to row.
  parts.constant = false;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                         \
  template Matrix<Scalar> project_means(const Matrix<Scalar>&, const Normalization<Scalar>&,  \
                                        const PackedLinear<Scalar>&);                         \
  template void move_means_into_constant(const Matrix<Scalar>&, Index, const Vector<Scalar>&, \
                                         const std::vector<char>&, Index, Matrix<Scalar>&);   \
  template void apply_gauge(const Gauge<Scalar>&, const ScoreLayer<Scalar>&, ProjectedParts<Scalar>&);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
