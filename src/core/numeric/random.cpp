#include "numeric/random.h"

#include <cmath>
#include <numbers>

namespace superpose {
namespace {

std::mt19937_64 engine_for(std::uint32_t seed, std::uint32_t stream) {
  std::seed_seq sequence{seed, stream};
  return std::mt19937_64(sequence);
}

}  // namespace

Random::Random(std::uint32_t seed, std::uint32_t stream) : engine_(engine_for(seed, stream)) {}

template <typename Scalar>
Matrix<Scalar> random_normal(int rows, int columns, double standard_deviation, std::uint32_t seed,
                             std::uint32_t stream) {
  Random random(seed, stream);
  Matrix<Scalar> table(rows, columns);
  for (Eigen::Index k = 0; k < table.size(); k += 2) {
    // 1 - u is in (0, 1], so the logarithm is finite.
    const double radius = standard_deviation * std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    table.data()[k] = static_cast<Scalar>(radius * std::cos(angle));
    if (k + 1 < table.size()) table.data()[k + 1] = static_cast<Scalar>(radius * std::sin(angle));
  }
  return table;
}

template <typename Scalar>
Matrix<Scalar> random_uniform(int rows, int columns, std::uint32_t seed, std::uint32_t stream) {
  Random random(seed, stream);
  Matrix<Scalar> table(rows, columns);
  for (Eigen::Index k = 0; k < table.size(); ++k) {
    table.data()[k] = static_cast<Scalar>(random.uniform());
  }
  return table;
}

template Matrix<float> random_normal(int, int, double, std::uint32_t, std::uint32_t);
template Matrix<double> random_normal(int, int, double, std::uint32_t, std::uint32_t);
template Matrix<float> random_uniform(int, int, std::uint32_t, std::uint32_t);
template Matrix<double> random_uniform(int, int, std::uint32_t, std::uint32_t);

}  // namespace superpose
