#include "scores/gauge.h"

#include <algorithm>

namespace superpose {

using Eigen::Index;

namespace {

bool is_excluded(const std::vector<char>& excluded, Index row) { return !excluded.empty() && excluded[row]; }

// Subtracts the m_s from projected parts [(summands + 1) * n, width], n rows of each and the constant last,
// in place; they and the excluded rows join the constant. The first row of the first part is row `from`. The
// m_s are zero where every row is excluded. sigma is [n].
void move_means_into_constant(const Vector<double>& sigma, const std::vector<char>& excluded, Index from,
                              Matrix<float>& parts) {
  const Index n = sigma.size(), width = parts.cols(), summands = n ? (parts.rows() - from) / n - 1 : 0;
  Vector<double> mean(width);
  for (Index s = 0; s < summands; ++s) {
    float* const part = parts.data() + (from + s * n) * width;
    float* const constant = parts.data() + (from + summands * n) * width;
    // A part is already projected and divided by sigma, so w_i times the undivided part is the part itself.
    double weights = 0;
    mean.setZero();
    for (Index i = 0; i < n; ++i) {
      if (is_excluded(excluded, i)) continue;
      weights += 1 / sigma[i];
      for (Index c = 0; c < width; ++c) mean[c] += part[i * width + c];
    }
    if (weights == 0) weights = 1;
    for (Index i = 0; i < n; ++i) {
      const double factor = 1 / (weights * sigma[i]);
      for (Index c = i * width; c < (i + 1) * width; ++c) {
        const float taken =
            is_excluded(excluded, i) ? part[c] : static_cast<float>(mean[c - i * width] * factor);
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

void apply_gauge(const Gauge& gauge, ProjectedParts& parts) {
  if (!gauge.moves_terms()) return;
  const std::vector<char> excluded = row_flags(gauge.excluded_rows, parts.tokens);
  move_means_into_constant(parts.sigma, excluded, parts.tokens, parts.rows);
  // The constant now contains m_s / sigma_i, which differs from row to row.
  parts.constant = false;
}

}  // namespace superpose
