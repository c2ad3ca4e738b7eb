#include "encodings/wavelengths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace superpose {
namespace {

// s(0) to s(farthest). Each pair is turned on from distance to distance, which takes a tenth of the time of
// its cosines; after k steps a value is off by about k times the rounding of one.
Vector<double> similarities(const Eigen::ArrayXd& frequencies, int farthest) {
  const Eigen::ArrayXd cosine = frequencies.cos(), sine = frequencies.sin();
  Eigen::ArrayXd x = Eigen::ArrayXd::Ones(frequencies.size()), y = Eigen::ArrayXd::Zero(frequencies.size());
  Eigen::ArrayXd turned(frequencies.size());
  Vector<double> found(farthest + 1);
  found[0] = 1;
  for (int k = 1; k <= farthest; ++k) {
    turned = x * cosine - y * sine;
    y = x * sine + y * cosine;
    x.swap(turned);
    found[k] = std::clamp(x.mean(), -1.0, 1.0);
  }
  return found;
}

}  // namespace

Wavelengths wavelengths(const SinusoidalOptions& options, int farthest) {
  const std::vector<double> all = sinusoidal_frequencies(options);
  const Eigen::ArrayXd frequencies = Eigen::Map<const Eigen::ArrayXd>(all.data(), all.size());
  Wavelengths found;
  found.lengths = 2 * std::numbers::pi * frequencies.inverse().matrix();
  found.below_one_turn = static_cast<int>((found.lengths.array() > options.positions).count());
  found.similarity = similarities(frequencies, farthest);
  const Vector<double>& s = found.similarity;

  double most = -std::numeric_limits<double>::infinity();
  for (int k = 1; k < options.positions; ++k) {
    if (s[k] <= most) continue;
    most = s[k];
    found.nearest_apart = k;
  }
  found.nearest = found.nearest_apart ? std::sqrt(2 * (1 - most)) : std::numeric_limits<double>::quiet_NaN();
  while (found.falls_to < farthest && s[found.falls_to + 1] < s[found.falls_to]) ++found.falls_to;
  for (int k = 1; k <= farthest && !found.first_negative; ++k) {
    if (s[k] < 0) found.first_negative = k;
  }
  return found;
}

}  // namespace superpose
