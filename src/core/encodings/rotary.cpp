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
Matrix<Scalar> rotate(const Matrix<Scalar>& rows, const RotaryOptions& options) {
  const int width = static_cast<int>(rows.cols()) / options.heads;
  const int pairs = width / 2;
  eigen_assert(rows.cols() == options.heads * 2 * pairs);
  const bool interleaved = options.layout == Layout::interleaved;
  const std::vector<double> frequencies = rotary_frequencies(width, options);
  const double gain = stretch_gain(options.stretch);

  Matrix<Scalar> turned(rows.rows(), rows.cols());
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    const double position = options.first_position + options.step * static_cast<double>(row);
    for (int i = 0; i < pairs; ++i) {
      const Scalar sine = static_cast<Scalar>(gain * std::sin(frequencies[i] * position));
      const Scalar cosine = static_cast<Scalar>(gain * std::cos(frequencies[i] * position));
      const int first = interleaved ? 2 * i : i;
      const int second = interleaved ? 2 * i + 1 : i + pairs;
      for (int start = 0; start < rows.cols(); start += width) {
        const Scalar a = rows(row, start + first), b = rows(row, start + second);
        turned(row, start + first) = a * cosine - b * sine;
        turned(row, start + second) = a * sine + b * cosine;
      }
    }
  }
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

template Matrix<double> rotate(const Matrix<double>&, const RotaryOptions&);

}  // namespace superpose
