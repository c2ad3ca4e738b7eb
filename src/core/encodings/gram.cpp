#include "encodings/gram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "encodings/shift.h"
#include "numeric/centred.h"
#include "numeric/power_of_two.h"
#include "numeric/product.h"
#include "numeric/random.h"

namespace superpose {

double toeplitz_spread(const Matrix<double>& square) {
  const Eigen::Index n = square.rows();
  double widest = 0;
  for (Eigen::Index lag = 1 - n; lag < n; ++lag) {
    const Eigen::Index first = std::max<Eigen::Index>(0, -lag), last = n - std::max<Eigen::Index>(0, lag);
    double low = square(first, first + lag), high = low;
    for (Eigen::Index row = first; row < last; ++row) {
      low = std::min(low, square(row, row + lag));
      high = std::max(high, square(row, row + lag));
    }
    widest = std::max(widest, high - low);
  }
  return widest;
}

OffsetMeans offset_means(const Matrix<double>& matrix) {
  const int exponent = exponent_of(matrix);
  const Matrix<double> square = times_power_of_two(matrix, -exponent);
  const Eigen::Index n = square.rows(), offsets = n ? 2 * n - 1 : 0;
  OffsetMeans result;
  result.means.setZero(offsets);
  result.kernel.resize(offsets);
  for (Eigen::Index row = 0; row < n; ++row) {
    for (Eigen::Index column = 0; column < n; ++column) {
      result.means[column - row + n - 1] += square(row, column);
      result.mean += square(row, column);
    }
  }
  result.mean /= static_cast<double>(square.size());
  double explained = 0, variation = 0;
  for (Eigen::Index t = 0; t < offsets; ++t) {
    const double count = static_cast<double>(n - std::abs(t - (n - 1)));
    result.means[t] /= count;
    const double kernel = result.kernel[t] = result.means[t] - result.mean;
    explained += count * kernel * kernel;
  }
  for (Eigen::Index row = 0; row < n; ++row) {
    for (Eigen::Index column = 0; column < n; ++column) {
      const double value = square(row, column);
      variation += (value - result.mean) * (value - result.mean);
      result.max_deviation =
          std::max(result.max_deviation, std::abs(value - result.means[column - row + n - 1]));
    }
  }
  // Equal entries differ from their mean by rounding, which must not count as variation.
  const double rounding =
      static_cast<double>(square.size()) * std::numeric_limits<double>::epsilon() * square.norm();
  // Rounding can lift a share slightly above 1, by more where the variation is small compared with the mean.
  result.share = variation <= rounding * rounding ? std::numeric_limits<double>::quiet_NaN()
                                                  : std::min(explained / variation, 1.0);
  result.mean = std::ldexp(result.mean, exponent);
  result.max_deviation = std::ldexp(result.max_deviation, exponent);
  result.means = times_power_of_two(result.means, exponent);
  result.kernel = times_power_of_two(result.kernel, exponent);
  return result;
}

Matrix<double> gram(const Matrix<double>& table) { return rows_times_rows<double>(table, table); }

namespace {

// table form table', [n, n].
Matrix<double> bilinear_gram(const Matrix<double>& table, const Matrix<double>& form) {
  return rows_times_rows<double>(table, rows_times_rows<double>(table, form));
}

// The columns of a sinusoidal table that are sines, [n, floor(d/2)].
Matrix<double> sines_only(const Matrix<double>& table, const SinusoidalOptions& options) {
  const std::vector<ChannelPair> pairs = channel_pairs(options);
  Matrix<double> sines(table.rows(), static_cast<Eigen::Index>(pairs.size()));
  for (Eigen::Index i = 0; i < sines.cols(); ++i) sines.col(i) = table.col(pairs[i].sine);
  return sines;
}

Matrix<double> random_form(int d, std::uint32_t seed) {
  return random_normal<double>(d, d, 1 / std::sqrt(d), seed, 0);
}

Matrix<double> rotation_form(const SinusoidalOptions& options, std::uint32_t seed) {
  const std::vector<ChannelPair> pairs = channel_pairs(options);
  const Matrix<double> ab = random_normal<double>(static_cast<int>(pairs.size()), 2, 1, seed, 1);
  Matrix<double> form = Matrix<double>::Zero(options.d_model, options.d_model);
  int i = 0;
  for (const auto [sine, cosine] : pairs) {
    form(sine, sine) = form(cosine, cosine) = ab(i, 0);
    form(cosine, sine) = ab(i, 1);
    form(sine, cosine) = -ab(i++, 1);
  }
  return form;
}

}  // namespace

FormGrams form_grams(const SinusoidalOptions& options, std::uint32_t seed) {
  const Matrix<double> table = sinusoidal(options);
  return {gram(table), gram(row_centred(table)), gram(sines_only(table, options)),
          bilinear_gram(table, random_form(options.d_model, seed)),
          bilinear_gram(table, rotation_form(options, seed))};
}

}  // namespace superpose
