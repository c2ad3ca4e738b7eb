#include "encodings/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "encodings/sinusoidal.h"

namespace superpose {
namespace {

// Applies the stretch to each frequency.
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
        const double turns = options.trained * theta / (2 * std::numbers::pi);
        const double stays = std::clamp((turns - options.alpha) / (options.beta - options.alpha), 0.0, 1.0);
        theta *= stays + (1 - stays) / s;
        break;
      }
    }
  }
  return frequencies;
}

}  // namespace

std::vector<double> rotary_frequencies(int head_width, double base, const StretchOptions& stretch) {
  if (head_width < 2) return {};
  return stretched(sinusoidal_frequencies({0, head_width, Layout::concatenated, Spacing::d_model, base, 0}),
                   stretch);
}

Rotation rotation(int head_width, const RotaryOptions& options) {
  return {rotary_frequencies(head_width, options.base), options.layout, options.heads, options.first_position,
          options.step};
}

template <typename Scalar>
RotaryAngles<Scalar> rotary_angles(Eigen::Index rows, const Rotation& rotation) {
  const Eigen::Index pairs = static_cast<Eigen::Index>(rotation.frequencies.size());
  RotaryAngles<Scalar> angles{{rows, pairs}, {rows, pairs}};
  for (Eigen::Index row = 0; row < rows; ++row) {
    const double position = rotation.first_position + rotation.step * static_cast<double>(row);
    for (Eigen::Index m = 0; m < pairs; ++m) {
      angles.cosines(row, m) = static_cast<Scalar>(std::cos(rotation.frequencies[m] * position));
      angles.sines(row, m) = static_cast<Scalar>(std::sin(rotation.frequencies[m] * position));
    }
  }
  return angles;
}

template <typename Scalar>
void rotate_stack(const Rotation& rotation, Eigen::Index n, Matrix<Scalar>& stack) {
  const RotaryAngles<Scalar> angles = rotary_angles<Scalar>(n, rotation);
  const Eigen::Index pairs = angles.cosines.cols(), width = stack.cols() / rotation.heads;
  for (Eigen::Index row = 0; row < stack.rows(); ++row) {
    const Eigen::Index at = row % n * pairs;
    for (int head = 0; head < rotation.heads; ++head) {
      rotate_head(stack.data() + row * stack.cols() + head * width, pairs, rotation.layout,
                  angles.cosines.data() + at, angles.sines.data() + at);
    }
  }
}

Matrix<double> rotate(Matrix<double> rows, const RotaryOptions& options) {
  const int width = static_cast<int>(rows.cols()) / options.heads;
  eigen_assert(rows.cols() == options.heads * width && width % 2 == 0);
  rotate_stack(rotation(width, options), rows.rows(), rows);
  return rows;
}

template RotaryAngles<float> rotary_angles(Eigen::Index, const Rotation&);
template RotaryAngles<double> rotary_angles(Eigen::Index, const Rotation&);
template void rotate_stack(const Rotation&, Eigen::Index, Matrix<float>&);
template void rotate_stack(const Rotation&, Eigen::Index, Matrix<double>&);

}  // namespace superpose
