#include "scores/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"

namespace superpose {
namespace {

std::vector<Matrix<double>> random_summands(Shapes& shapes, int count, int n, int d) {
  std::vector<Matrix<double>> summands;
  for (int s = 0; s < count; ++s) summands.push_back(shapes.matrix(n, d));
  return summands;
}

Matrix<double> sum_of(const std::vector<Matrix<double>>& parts) {
  Matrix<double> sum = parts[0];
  for (std::size_t s = 1; s < parts.size(); ++s) sum += parts[s];
  return sum;
}

// LayerNorm written out one number at a time, from its definition.
Matrix<double> layer_norm_by_hand(const Matrix<double>& x, const Normalization<double>& norm) {
  Matrix<double> out = x;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    double mean = 0, squares = 0;
    for (Eigen::Index c = 0; c < x.cols(); ++c) mean += x(i, c) / x.cols();
    if (norm.kind == Norm::rms_norm) mean = 0;
    for (Eigen::Index c = 0; c < x.cols(); ++c) squares += std::pow(x(i, c) - mean, 2) / x.cols();
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      out(i, c) = norm.gamma[c] * (x(i, c) - mean) / std::sqrt(squares + norm.epsilon) +
                  (norm.beta.size() ? norm.beta[c] : 0);
    }
  }
  return out;
}

TEST(LayerNorm, PartsAndBetaSumToTheWholeAndTheWholeIsTheDefinition) {
  Shapes shapes(1);
  for (int trial = 0; trial < 60; ++trial) {
    const int n = shapes.between(1, 6), d = shapes.between(2, 9);
    Normalization<double> norm{Norm::layer_norm, shapes.vector(d), shapes.vector(d), 1e-5};
    if (shapes.coin()) norm = {Norm::rms_norm, shapes.vector(d), {}, 1e-5};
    const auto summands = random_summands(shapes, shapes.between(1, 4), n, d);
    const auto result = normalize(summands, norm);
    Matrix<double> sum = Matrix<double>::Zero(n, d);
    for (std::size_t s = 0; s < summands.size(); ++s) sum += result.part(s);
    if (norm.beta.size()) sum.rowwise() += norm.beta.transpose();
    EXPECT_LT(max_abs(sum - result.whole()), 1e-12);
    EXPECT_LT(max_abs(result.whole() - layer_norm_by_hand(sum_of(summands), norm)), 1e-12);
  }
}

TEST(LayerNorm, NormalizingEachSummandByItselfDoesNotSum) {
  Shapes shapes(2);
  const int n = 5, d = 16;
  const Normalization<double> norm{Norm::layer_norm, shapes.vector(d), {}, 0};
  const auto summands = random_summands(shapes, 2, n, d);
  const Matrix<double> whole = normalize(summands, norm).whole();
  const Matrix<double> apart =
      normalize<double>({summands[0]}, norm).whole() + normalize<double>({summands[1]}, norm).whole();
  EXPECT_GT(max_abs(apart - whole), 0.1);
}

TEST(LayerNorm, NoneLeavesEverythingAsItIs) {
  Shapes shapes(3);
  const auto summands = random_summands(shapes, 3, 4, 5);
  const auto result = normalize(summands, Normalization<double>{});
  for (int s = 0; s < 3; ++s) EXPECT_EQ(result.part(s), summands[s]);
  EXPECT_EQ(result.whole(), sum_of(summands));
  EXPECT_EQ(result.sigma, Vector<double>::Ones(4));
}

TEST(LayerNorm, ConstantRowsWithEpsilonBecomeBeta) {
  const Vector<double> beta = Vector<double>::LinSpaced(4, 1, 4);
  const Normalization<double> norm{Norm::layer_norm, {}, beta, 1e-12};
  const auto result = normalize<double>({Matrix<double>::Constant(2, 4, 3)}, norm);
  EXPECT_LT(max_abs(result.whole().rowwise() - beta.transpose()), 1e-15);
}

}  // namespace
}  // namespace superpose
