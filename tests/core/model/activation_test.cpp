// Activations follow their formulas over the whole range of floats.
#include "model/activation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace superpose {
namespace {

double exact_activation(Activation kind, double x) {
  switch (kind) {
    case Activation::gelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::relu:
      return std::max(x, 0.0);
  }
  return NAN;
}

TEST(Activation, IsTheFormulaEverywhere) {
  const int count = 20003;
  Matrix<float> x(1, count);
  for (int i = 0; i < count; ++i) x(i) = static_cast<float>(-10 + 20.0 * i / count);
  x(0) = -800, x(1) = 800;
  for (const Activation kind :
       {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu}) {
    Matrix<float> result = x;
    activate(kind, Vector<float>::Zero(count), result);
    for (int i = 0; i < count; ++i)
      EXPECT_NEAR(result(i), exact_activation(kind, x(i)), 2.4e-7 * std::max(std::abs(x(i)), 1.0f))
          << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace superpose
