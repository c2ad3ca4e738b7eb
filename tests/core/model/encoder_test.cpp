#include "model/encoder.h"

#include <gtest/gtest.h>

#include <cmath>

namespace superpose {
namespace {

TEST(Activation, InFloatIsThatInDoubleEverywhere) {
  const int count = 20003;
  Matrix<double> given(1, count);
  for (int i = 0; i < count; ++i) given(i) = -10 + 20.0 * i / count;
  const Matrix<double> x = given.cast<float>().cast<double>();
  const Vector<double> bias = Vector<double>::Zero(count);
  for (const Activation kind :
       {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu}) {
    Matrix<double> exact = x;
    Matrix<float> single = x.cast<float>();
    activate<double>(kind, bias, exact);
    activate<float>(kind, bias.cast<float>(), single);
    const Matrix<double> error = (single.cast<double>() - exact).cwiseAbs();
    EXPECT_LT(error.cwiseQuotient(x.cwiseAbs().cwiseMax(1)).maxCoeff(), 2.4e-7) << static_cast<int>(kind);
  }
}

// silu is what it is defined as, and far out 0 or x.
TEST(Activation, SiluIsXTimesItsLogistic) {
  Matrix<double> x(1, 5);
  x << -800, -2, 0, 0.7, 800;
  Matrix<double> found = x;
  activate<double>(Activation::silu, {}, found);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    EXPECT_NEAR(found(i), static_cast<double>(x(i) / (1 + std::exp(-static_cast<long double>(x(i))))), 1e-15);
  Matrix<float> single = x.cast<float>();
  activate<float>(Activation::silu, {}, single);
  EXPECT_NEAR(single(0), 0, 1e-30);
  EXPECT_EQ(single(4), 800);
}

}  // namespace
}  // namespace superpose
