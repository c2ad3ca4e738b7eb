#include "model/row_norm.h"

#include <cmath>

#include "numeric/simd.h"

namespace superpose {

using Eigen::Index;

namespace {

template <typename Scalar>
Scalar total(typename Simd<Scalar>::Vector sums) {
  Scalar sum = 0;
  for (int lane = 0; lane < Simd<Scalar>::kLanes; ++lane) sum += sums[lane];
  return sum;
}

// sum of f(x_c), in vectors and then the entries left over.
template <typename Scalar, typename Of>
Scalar sum_along(const Scalar* row, Index size, const Of& of) {
  using S = Simd<Scalar>;
  typename S::Vector sums{};
  Index c = 0;
  for (; c + S::kLanes <= size; c += S::kLanes) sums += of(S::load(row + c));
  Scalar sum = total<Scalar>(sums);
  for (; c < size; ++c) sum += of(row[c]);
  return sum;
}

// row = (row - mean) * factor * gamma + beta; gamma and beta may be null.
template <typename Scalar>
void rescale(Scalar mean, Scalar factor, const Scalar* gamma, const Scalar* beta, Index size, Scalar* row) {
  using S = Simd<Scalar>;
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

template <typename Scalar>
const Scalar* data_or_null(const Vector<Scalar>& vector) {
  return vector.size() ? vector.data() : nullptr;
}

// Takes its mean away from a row that is to be centred, and returns what rounding left of it.
template <typename Scalar>
Scalar rest_of_mean(const Normalization<Scalar>& normalization, Index d, Scalar* row) {
  if (normalization.kind != Norm::layer_norm) return 0;
  const auto mean = [&] { return sum_along(row, d, [](auto v) { return v; }) / static_cast<Scalar>(d); };
  rescale<Scalar>(mean(), 1, nullptr, nullptr, d, row);
  return mean();
}

}  // namespace

template <typename Scalar>
void add_rows(const Matrix<Scalar>& added, const Vector<Scalar>& bias, Matrix<Scalar>& x) {
  using S = Simd<Scalar>;
  const Index d = x.cols();
  for (Index i = 0; i < x.rows(); ++i) {
    Scalar* const row = x.data() + i * d;
    const auto add = [&](const Scalar* from) {
      Index c = 0;
      for (; c + S::kLanes <= d; c += S::kLanes) S::store(row + c, S::load(row + c) + S::load(from + c));
      for (; c < d; ++c) row[c] += from[c];
    };
    if (added.size()) add(added.data() + i * d);
    if (bias.size()) add(bias.data());
  }
}

template <typename Scalar>
void normalize_rows(const Normalization<Scalar>& normalization, Matrix<Scalar>& x, Vector<Scalar>& sigma) {
  const Index n = x.rows(), d = x.cols();
  sigma = Vector<Scalar>::Ones(n);
  if (normalization.kind == Norm::none) return;
  for (Index i = 0; i < n; ++i) {
    Scalar* const row = x.data() + i * d;
    const Scalar mean = rest_of_mean(normalization, d, row);
    const auto means = Simd<Scalar>::all(mean);
    const Scalar squares = sum_along(row, d, [&](auto v) {
      if constexpr (sizeof v == sizeof(Scalar))
        return (v - mean) * (v - mean);
      else
        return (v - means) * (v - means);
    });
    sigma[i] = std::sqrt(squares / static_cast<Scalar>(d) + normalization.epsilon);
    rescale(mean, 1 / sigma[i], data_or_null(normalization.gamma), data_or_null(normalization.beta), d, row);
  }
}

template <typename Scalar>
void normalize_part(const Normalization<Scalar>& normalization, const Vector<Scalar>& sigma,
                    Matrix<Scalar>& part) {
  if (normalization.kind == Norm::none) return;
  for (Index i = 0; i < part.rows(); ++i) {
    Scalar* const row = part.data() + i * part.cols();
    rescale<Scalar>(rest_of_mean(normalization, part.cols(), row), 1 / sigma[i],
                    data_or_null(normalization.gamma), nullptr, part.cols(), row);
  }
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                           \
  template void add_rows(const Matrix<Scalar>&, const Vector<Scalar>&, Matrix<Scalar>&);        \
  template void normalize_rows(const Normalization<Scalar>&, Matrix<Scalar>&, Vector<Scalar>&); \
  template void normalize_part(const Normalization<Scalar>&, const Vector<Scalar>&, Matrix<Scalar>&);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
