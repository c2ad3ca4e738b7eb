#include "encodings/wavelengths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace superpose {
namespace {

// s(0) to s(farthest). Each pair is rotated from one distance to the next, which takes a tenth of the time
// of computing its cosines; after k steps a value is off by about k times the rounding of one step.
Vector<double> similarities(const Eigen::ArrayXd& frequencies, int farthest) {
  const Eigen::ArrayXd cosine = frequencies.cos(), sine = frequencies.sin();
  Eigen::ArrayXd x = Eigen::ArrayXd::Ones(frequencies.size()), y = Eigen::ArrayXd::Zero(frequencies.size());
  Eigen::ArrayXd next(frequencies.size());
  Vector<double> s(farthest + 1);
  s[0] = 1;
  for (int k = 1; k <= farthest; ++k) {
    next = x * cosine - y * sine;
    y = x * sine + y * cosine;
    x.swap(next);
    s[k] = std::clamp(x.mean(), -1.0, 1.0);
  }
  return s;
}

}  // namespace

Wavelengths wavelengths(const SinusoidalOptions& options, int farthest) {
  const std::vector<double> all = sinusoidal_frequencies(options);
  const Eigen::ArrayXd frequencies = Eigen::Map<const Eigen::ArrayXd>(all.data(), all.size());
  Wavelengths result;
  result.lengths = 2 * std::numbers::pi * frequencies.inverse().matrix();
  result.below_one_turn = static_cast<int>((result.lengths.array() > options.positions).count());
  result.similarity = similarities(frequencies, farthest);
  const Vector<double>& s = result.similarity;

  double most = -std::numeric_limits<double>::infinity();
  for (int k = 1; k < options.positions; ++k) {
    if (s[k] <= most) continue;
    most = s[k];
    result.nearest_offset = k;
  }
  result.nearest =
      result.nearest_offset ? std::sqrt(2 * (1 - most)) : std::numeric_limits<double>::quiet_NaN();
  while (result.falls_to < farthest && s[result.falls_to + 1] < s[result.falls_to]) ++result.falls_to;
  for (int k = 1; k <= farthest && !result.first_negative; ++k) {
    if (s[k] < 0) result.first_negative = k;
  }
  return result;
}

}  // namespace superpose
