#include "scores/gauge.h"

#include <algorithm>

namespace superpose {

using Eigen::Index;

namespace {

bool is_apart(const std::vector<char>& apart, Index row) { return !apart.empty() && apart[row]; }

// The m_s of given means [summands, d]: [summands, width], without bias and sigma; empty for no means.
Matrix<double> project_means(const Matrix<double>& means, const Normalization<double>& normalization,
                             const PackedLinear<double>& linear) {
  if (!means.size()) return means;
  const Index d = means.cols();
  Matrix<double> rows = means;
  for (Index s = 0; s < rows.rows(); ++s) {
    double* const row = rows.data() + s * d;
    double mean = 0;
    for (Index c = 0; normalization.kind == Norm::layer_norm && c < d; ++c) mean += row[c];
    mean /= static_cast<double>(d);
    for (Index c = 0; c < d; ++c) row[c] -= mean;
    for (Index c = 0; c < normalization.gamma.size(); ++c) row[c] *= normalization.gamma[c];
  }
  return rows_times_rows<double>(rows, linear.weight);
}

// Subtracts the m_s from projected parts [(summands + 1) * n, width], n rows of each and the constant last,
// in place; they and the rows that stand apart join the constant. The first row of the first part is row
// `from`. The m_s are `given` or, when that is empty, those of the canonical gauge: zero where every row stands apart. sigma is [n], the product where there are several norms.
void move_means_into_constant(const Matrix<double>& given, const Vector<double>& sigma,
                              const std::vector<char>& apart, Index from, Matrix<double>& parts) {
  const Index n = sigma.size(), width = parts.cols(), summands = n ? (parts.rows() - from) / n - 1 : 0;
  Vector<double> mean(width);
  for (Index s = 0; s < summands; ++s) {
    double* const part = parts.data() + (from + s * n) * width;
    double* const constant = parts.data() + (from + summands * n) * width;
    // A part is already projected and divided by sigma, so w_i times the undivided part is the part itself.
    double weights = 0;
    for (Index c = 0; c < width; ++c) mean[c] = given.size() ? given(s, c) : 0;
    for (Index i = 0; !given.size() && i < n; ++i) {
      if (is_apart(apart, i)) continue;
      weights += 1 / sigma[i];
      for (Index c = 0; c < width; ++c) mean[c] += part[i * width + c];
    }
    if (weights == 0) weights = 1;
    for (Index i = 0; i < n; ++i) {
      const double factor = 1 / (weights * sigma[i]);
      for (Index c = i * width; c < (i + 1) * width; ++c) {
        const double taken = is_apart(apart, i) ? part[c] : mean[c - i * width] * factor;
        constant[c] += taken;
        part[c] -= taken;
      }
    }
  }
}

}  // namespace

std::vector<char> row_flags(const std::vector<int>& rows, Index n) {
  std::vector<char> flags(rows.empty() ? 0 : n);
  for (int row : rows) flags[row] = 1;
  return flags;
}

void apply_gauge(const Gauge<double>& gauge, const ScoreLayer& layer, ProjectedParts<double>& parts) {
  if (!gauge.moves_terms()) return;
  const std::vector<char> apart = row_flags(gauge.apart, parts.tokens);
  const auto turn = [&](const PackedLinear<double>& linear, Matrix<double>& stack) {
    move_means_into_constant(project_means(gauge.means, layer.normalization, linear), parts.sigma, apart,
                             parts.tokens, stack);
  };
  turn(layer.query, parts.queries);
  turn(layer.key, parts.keys);
  // The constant now contains m_s / sigma_i, which differs from row to row.
  parts.constant = false;
}

}  // namespace superpose
