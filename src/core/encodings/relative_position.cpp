#include "encodings/relative_position.h"

#include <algorithm>
#include <cmath>

namespace superpose {
namespace {

template <typename IndexOf>
Indices indices(int n, IndexOf index_of) {
  Indices result(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) result(i, j) = index_of(i, j);
  }
  return result;
}

// The bucket of a key `offset` positions after its query.
int t5_bucket(int offset, const T5Options& options) {
  const int buckets = options.bidirectional ? options.buckets / 2 : options.buckets;
  const int first = options.bidirectional && offset > 0 ? buckets : 0;
  const int distance = options.bidirectional ? std::abs(offset) : std::max(-offset, 0);
  const int exact = buckets / 2;
  if (distance < exact) return first + distance;
  const double steps = std::log(static_cast<double>(distance) / exact) /
                       std::log(static_cast<double>(options.max_distance) / exact) * (buckets - exact);
  // Rounding must not move a distance at which a bucket begins exactly into the bucket before it. The `steps`
  // of two different distances are always further apart than this.
  constexpr double kRounding = 1e-9;
  const double nearest = std::round(steps);
  const double step = std::abs(steps - nearest) < kRounding ? nearest : std::floor(steps);
  return first + static_cast<int>(std::min<double>(exact + step, buckets - 1));
}

}  // namespace

Indices clipped_offsets(int n, int k) {
  return indices(n, [k](int i, int j) { return std::clamp(j - i, -k, k) + k; });
}

Indices deberta_distances(int n, int k) {
  return indices(n, [k](int i, int j) { return std::clamp(i - j + k, 0, 2 * k - 1); });
}

Indices t5_buckets(int n, const T5Options& options) {
  std::vector<int> of_offset;
  for (int offset = 1 - n; offset < n; ++offset) of_offset.push_back(t5_bucket(offset, options));
  return indices(n, [&](int i, int j) { return of_offset[j - i + n - 1]; });
}

Indices tupe_buckets(int n, const T5Options& options) {
  Indices result = t5_buckets(n, options);
  if (n == 0) return result;
  result.col(0).setConstant(options.buckets);
  result.row(0).setConstant(options.buckets / 2);
  return result;
}

std::vector<double> alibi_slopes(int heads) {
  int power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  for (int h = 1; h <= power && h <= heads; ++h) slopes.push_back(std::exp2(-8.0 * h / power));
  for (int h = 1; h <= heads - power; ++h) {
    slopes.push_back(std::exp2(-8.0 * (2 * h - 1) / (2 * power)));
  }
  return slopes;
}

}  // namespace superpose
