#include "training/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace superpose {
namespace {

TEST(TrainingKernels, GeluIsHendrycksAndGimpels) {
  std::vector<float> x, y, slope;
  for (int k = -4001; k <= 4001; ++k) x.push_back(0.01f * static_cast<float>(k));
  y.resize(x.size());
  slope.resize(x.size());
  gelu<float>(x.data(), static_cast<Eigen::Index>(x.size()), y.data(), slope.data());
  const auto wanted = [](double v) {
    return 0.5 * v * (1 + std::tanh(std::sqrt(2 / EIGEN_PI) * (v + 0.044715 * v * v * v)));
  };
  for (std::size_t k = 0; k < x.size(); ++k) {
    EXPECT_NEAR(y[k], wanted(x[k]), 3e-7 * (1 + std::abs(x[k])));
    EXPECT_NEAR(slope[k], (wanted(x[k] + 1e-5) - wanted(x[k] - 1e-5)) / 2e-5, 2e-6);
  }
}

}  // namespace
}  // namespace superpose
