#include "scores/gauge.h"

#include <algorithm>

namespace superpose {

using Eigen::Index;

std::vector<char> row_flags(const std::vector<int>& rows, Index n) {
  std::vector<char> flags(rows.empty() ? 0 : n);
  for (int row : rows) flags[row] = 1;
  return flags;
}

void move_mean_into_constant(const GaugeRows& rows, Index width, float* part, float* constant) {
  const Index n = rows.sigma.size();
  const auto excluded = [&](Index i) { return !rows.excluded.empty() && rows.excluded[i]; };
  const auto inverse = [&](Index i) { return 1 / rows.sigma[i]; };

  Index first = 0;
  while (first < n && excluded(first)) ++first;
  Vector<double> origin = Vector<double>::Zero(width);
  for (Index c = 0; !rows.normalized && first < n && c < width; ++c) origin[c] = part[first * width + c];

  // m = (sum_i x_i / sigma_i) / (sum_i 1 / sigma_i); a normalized row is x_i / sigma_i already.
  double weights = 0;
  Vector<double> mean = Vector<double>::Zero(width);
  for (Index i = first; i < n; ++i) {
    if (excluded(i)) continue;
    const double weight = rows.normalized ? 1 : inverse(i);
    weights += inverse(i);
    for (Index c = 0; c < width; ++c) mean[c] += weight * (part[i * width + c] - origin[c]);
  }
  if (first < n) mean = mean / weights + origin;

  for (Index i = 0; i < n; ++i) {
    const double factor = rows.normalized ? inverse(i) : 1;
    for (Index c = 0; c < width; ++c) {
      float& value = part[i * width + c];
      const float moved = excluded(i) ? value : static_cast<float>(factor * mean[c]);
      if (constant) constant[i * width + c] += moved;
      value = excluded(i) ? 0 : value - moved;
    }
  }
}

void apply_gauge(const Gauge& gauge, ProjectedParts& parts) {
  if (gauge.kind == GaugeKind::raw) return;
  const Index n = parts.tokens, width = parts.rows.cols();
  const GaugeRows rows{parts.sigma, row_flags(gauge.excluded_rows, n), true};
  float* const first = parts.rows.data() + n * width;
  float* const constant = first + (parts.parts - 1) * n * width;
  for (float* part = first; part < constant; part += n * width)
    move_mean_into_constant(rows, width, part, constant);
  // The constant now contains m_s / sigma_i, which differs from row to row.
  parts.constant = false;
}

}  // namespace superpose
