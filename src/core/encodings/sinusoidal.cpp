#include "encodings/sinusoidal.h"

#include <algorithm>
#include <cmath>

namespace superpose {

std::vector<double> sinusoidal_frequencies(const SinusoidalOptions& options) {
  const int d = options.d_model;
  const int pairs = d / 2;
  const int count = options.layout == Layout::interleaved ? d - pairs : pairs;
  std::vector<double> frequencies(count);
  for (int i = 0; i < count; ++i) {
    const double exponent =
        options.spacing == Spacing::d_model ? 2.0 * i / d : static_cast<double>(i) / std::max(pairs - 1, 1);
    frequencies[i] = std::pow(options.base, -exponent);
  }
  return frequencies;
}

Matrix<double> sinusoidal(const SinusoidalOptions& options) {
  const int d = options.d_model;
  const int pairs = d / 2;
  const bool interleaved = options.layout == Layout::interleaved;
  const std::vector<double> frequencies = sinusoidal_frequencies(options);

  Matrix<double> table = Matrix<double>::Zero(options.positions, d);
  for (int row = 0; row < options.positions; ++row) {
    const double position = options.first_position + row;
    for (int i = 0; i < static_cast<int>(frequencies.size()); ++i) {
      const double angle = frequencies[i] * position;
      const int sine = interleaved ? 2 * i : i;
      const int cosine = interleaved ? 2 * i + 1 : pairs + i;
      table(row, sine) = std::sin(angle);
      if (cosine < d) table(row, cosine) = std::cos(angle);
    }
  }
  return table;
}

}  // namespace superpose
