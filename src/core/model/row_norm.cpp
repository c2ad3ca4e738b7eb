#include "model/row_norm.h"

#include <cmath>

#include "numeric/simd.h"

namespace superpose {

using Eigen::Index;

namespace {

using S = Simd<float>;

// sum of f(x_c), in vectors and then the entries left over.
template <typename Of>
float sum_along(const float* row, Index size, const Of& of) {
  S::Vector sums{};
  Index c = 0;
  for (; c + S::kLanes <= size; c += S::kLanes) sums += of(S::load(row + c));
  float sum = 0;
  for (int lane = 0; lane < S::kLanes; ++lane) sum += sums[lane];
  for (; c < size; ++c) sum += of(row[c]);
  return sum;
}

// row = (row - mean) * factor * gamma + beta; gamma and beta may be null.
void rescale(float mean, float factor, const float* gamma, const float* beta, Index size, float* row) {
  const auto means = S::all(mean), factors = S::all(factor);
  Index c = 0;
  for (; c + S::kLanes <= size; c += S::kLanes) {
    auto v = (S::load(row + c) - means) * factors;
    if (gamma) v *= S::load(gamma + c);
    if (beta) v += S::load(beta + c);
    S::store(row + c, v);
  }
  for (; c < size; ++c) {
    row[c] = (row[c] - mean) * factor;
    if (gamma) row[c] *= gamma[c];
    if (beta) row[c] += beta[c];
  }
}

const float* data_or_null(const Vector<float>& vector) { return vector.size() ? vector.data() : nullptr; }

// Takes its mean away from a row that is to be centred, and returns what rounding left of it.
float rest_of_mean(const Normalization<float>& normalization, Index d, float* row) {
  if (normalization.kind != Norm::layer_norm) return 0;
  const auto mean = [&] { return sum_along(row, d, [](auto v) { return v; }) / static_cast<float>(d); };
  rescale(mean(), 1, nullptr, nullptr, d, row);
  return mean();
}

}  // namespace

void add_rows(const Matrix<float>& added, const Vector<float>& bias, Matrix<float>& x) {
  const Index d = x.cols();
  for (Index i = 0; i < x.rows(); ++i) {
    float* const row = x.data() + i * d;
    const auto add = [&](const float* from) {
      Index c = 0;
      for (; c + S::kLanes <= d; c += S::kLanes) S::store(row + c, S::load(row + c) + S::load(from + c));
      for (; c < d; ++c) row[c] += from[c];
    };
    if (added.size()) add(added.data() + i * d);
    if (bias.size()) add(bias.data());
  }
}

void normalize_rows(const Normalization<float>& normalization, Matrix<float>& x, Vector<float>& sigma) {
  const Index n = x.rows(), d = x.cols();
  sigma = Vector<float>::Ones(n);
  if (normalization.kind == Norm::none) return;
  for (Index i = 0; i < n; ++i) {
    float* const row = x.data() + i * d;
    const float mean = rest_of_mean(normalization, d, row);
    const auto means = S::all(mean);
    const float squares = sum_along(row, d, [&](auto v) {
      if constexpr (sizeof v == sizeof(float))
        return (v - mean) * (v - mean);
      else
        return (v - means) * (v - means);
    });
    double variance = squares / static_cast<float>(d);
    if (!std::isfinite(variance)) {
      // Squares of entries from 1e19 on are beyond a float.
      variance = 0;
      for (Index c = 0; c < d; ++c) variance += std::pow(double(row[c]) - mean, 2) / static_cast<double>(d);
    }
    sigma[i] = static_cast<float>(std::sqrt(variance + normalization.epsilon));
    rescale(mean, 1 / sigma[i], data_or_null(normalization.gamma), data_or_null(normalization.beta), d, row);
  }
}

void normalize_part(const Normalization<float>& normalization, const Vector<float>& sigma,
                    Matrix<float>& part) {
  if (normalization.kind == Norm::none) return;
  for (Index i = 0; i < part.rows(); ++i) {
    float* const row = part.data() + i * part.cols();
    rescale(rest_of_mean(normalization, part.cols(), row), 1 / sigma[i], data_or_null(normalization.gamma),
            nullptr, part.cols(), row);
  }
}

}  // namespace superpose
