#include "encodings/rotary.h"

#include <cmath>

namespace superpose {

std::vector<double> rotary_frequencies(int head_width, const RotaryOptions& options) {
  if (head_width < 2) return {};
  return stretched(
      sinusoidal_frequencies({0, head_width, Layout::concatenated, Spacing::d_model, options.base, 0}),
      options.base, options.stretch);
}

template <typename Scalar>
void turn(const Turning& turning, Eigen::Index n, Matrix<Scalar>& stack) {
  using Eigen::Index;
  const Index pairs = static_cast<Index>(turning.frequencies.size()), columns = stack.cols();
  const Index width = columns / turning.heads;
  const bool interleaved = turning.layout == Layout::interleaved;
  for (Index row = 0; row < n; ++row) {
    const double position = turning.first_position + turning.step * static_cast<double>(row);
    for (Index m = 0; m < pairs; ++m) {
      const double angle = turning.frequencies[m] * position;
      const Scalar sine = static_cast<Scalar>(turning.gain * std::sin(angle));
      const Scalar cosine = static_cast<Scalar>(turning.gain * std::cos(angle));
      const Index first = interleaved ? 2 * m : m, second = interleaved ? 2 * m + 1 : m + pairs;
      for (Index at = row; at < stack.rows(); at += n) {
        Scalar* const end = stack.data() + (at + 1) * columns;
        for (Scalar* head = stack.data() + at * columns; head < end; head += width) {
          const Scalar a = head[first], b = head[second];
          head[first] = a * cosine - b * sine;
          head[second] = a * sine + b * cosine;
        }
      }
    }
  }
}

template <typename Scalar>
Matrix<Scalar> rotate(const Matrix<Scalar>& rows, const RotaryOptions& options) {
  const int width = static_cast<int>(rows.cols()) / options.heads;
  eigen_assert(rows.cols() == options.heads * width && width % 2 == 0);
  Matrix<Scalar> turned = rows;
  turn({rotary_frequencies(width, options), options.layout, options.heads, stretch_gain(options.stretch),
        options.first_position, options.step},
       rows.rows(), turned);
  return turned;
}

std::vector<int> rotary_permutation(int head_width) {
  std::vector<int> order(head_width);
  for (int c = 0; c < head_width; ++c) {
    const int pairs = head_width / 2;
    order[c] = c < pairs ? 2 * c : 2 * (c - pairs) + 1;
  }
  return order;
}

template void turn(const Turning&, Eigen::Index, Matrix<float>&);
template void turn(const Turning&, Eigen::Index, Matrix<double>&);
template Matrix<double> rotate(const Matrix<double>&, const RotaryOptions&);

}  // namespace superpose
