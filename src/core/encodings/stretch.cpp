#include "encodings/stretch.h"

#include <algorithm>
#include <cmath>

#include "numeric/matrix.h"

namespace superpose {

std::vector<double> stretched(const std::vector<double>& frequencies, double base,
                              const StretchOptions& options) {
  const double s = options.factor, pairs = static_cast<double>(frequencies.size());
  std::vector<double> found = frequencies;
  for (std::size_t i = 0; i < found.size(); ++i) {
    double& theta = found[i];
    switch (options.way) {
      case Stretch::none:
        break;
      case Stretch::interpolate:
        theta /= s;
        break;
      case Stretch::ntk: {
        // One pair is the fastest, which stays.
        const double by = pairs > 1 ? pairs / (pairs - 1) : 0;
        theta = std::pow(base * std::pow(s, by), -static_cast<double>(i) / pairs);
        break;
      }
      case Stretch::parts:
      case Stretch::yarn: {
        const double turns = options.trained * theta / (2 * EIGEN_PI);
        const double stays = std::clamp((turns - options.alpha) / (options.beta - options.alpha), 0.0, 1.0);
        theta *= stays + (1 - stays) / s;
        break;
      }
    }
  }
  return found;
}

double stretch_gain(const StretchOptions& options) {
  return options.way == Stretch::yarn ? 0.1 * std::log(options.factor) + 1 : 1;
}

}  // namespace superpose
