#include "encodings/shift.h"

#include <cmath>

#include "numeric/product.h"

namespace superpose {

std::vector<ChannelPair> channel_pairs(const SinusoidalOptions& options) {
  const int pairs = options.d_model / 2;
  std::vector<ChannelPair> places(pairs);
  for (int i = 0; i < pairs; ++i) {
    places[i] =
        options.layout == Layout::interleaved ? ChannelPair{2 * i, 2 * i + 1} : ChannelPair{i, pairs + i};
  }
  return places;
}

Matrix<double> shift_operator(const SinusoidalOptions& options, double offset) {
  const std::vector<double> frequencies = sinusoidal_frequencies(options);
  Matrix<double> shift = Matrix<double>::Identity(options.d_model, options.d_model);
  int i = 0;
  for (const auto [sine, cosine] : channel_pairs(options)) {
    const double angle = offset * frequencies[i++];
    shift(sine, sine) = shift(cosine, cosine) = std::cos(angle);
    shift(sine, cosine) = std::sin(angle);
    shift(cosine, sine) = -std::sin(angle);
  }
  return shift;
}

double shift_error(const SinusoidalOptions& options, double offset) {
  if (options.positions == 0) return 0;
  SinusoidalOptions later = options;
  later.first_position += offset;
  const Matrix<double> moved = rows_times_rows<double>(sinusoidal(options), shift_operator(options, offset));
  return (moved - sinusoidal(later)).cwiseAbs().maxCoeff();
}

}  // namespace superpose
