#include "encodings/stretch.h"

#include <algorithm>

#include "numeric/matrix.h"

namespace superpose {

std::vector<double> stretched(std::vector<double> frequencies, const StretchOptions& options) {
  const double s = options.factor;
  for (double& theta : frequencies) {
    switch (options.way) {
      case Stretch::none:
        break;
      case Stretch::interpolate:
        theta /= s;
        break;
      case Stretch::parts: {
        const double turns = options.trained * theta / (2 * EIGEN_PI);
        const double stays = std::clamp((turns - options.alpha) / (options.beta - options.alpha), 0.0, 1.0);
        theta *= stays + (1 - stays) / s;
        break;
      }
    }
  }
  return frequencies;
}

}  // namespace superpose
