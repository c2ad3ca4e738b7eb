#include "probes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "random_shapes.h"
#include "sinusoidal.h"

namespace superpose {
namespace {

// The gradient of the penalised squares vanishes at the fit, by any of the three routes.
TEST(Probes, RidgeMinimises) {
  Shapes shapes(1);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = shapes.between(1, 20), d = shapes.between(1, 20), k = shapes.between(1, 4);
    const Matrix<double> x = shapes.matrix(n, d), y = shapes.matrix(n, k);
    for (double penalty : {0.0, 0.5, 30.0}) {
      const Ridge ridge = fit_ridge(x, y, penalty);
      const Matrix<double> residual = y - predict(ridge, x);
      EXPECT_LT(max_abs(residual.colwise().sum()), 1e-10);
      EXPECT_LT(max_abs(residual.transpose() * x - penalty * ridge.weight), 1e-10);
    }
  }
}

TEST(Probes, FoldsPartition) {
  for (bool shuffled : {false, true}) {
    const auto folds = fold_assignment(13, 5, shuffled, 3);
    std::vector<int> sizes(5);
    for (int fold : folds) ++sizes[fold];
    EXPECT_EQ(sizes, (std::vector<int>{3, 3, 3, 2, 2}));
    EXPECT_EQ(std::is_sorted(folds.begin(), folds.end()), !shuffled);
    EXPECT_EQ(folds, fold_assignment(13, 5, shuffled, 3));
    EXPECT_EQ(folds == fold_assignment(13, 5, shuffled, 4), !shuffled);
  }
}

TEST(Probes, PositionIsReadFromALineAndEachRowIsHeldOut) {
  Shapes shapes(2);
  const int n = 20;
  Vector<double> index(n);
  std::iota(index.begin(), index.end(), 0);
  const Matrix<double> line = index * shapes.matrix(1, 5);
  EXPECT_EQ(position_probe(line, index, {0, 5, false, 0}).mean_absolute_error, 0);
  // A row of its own direction cannot be predicted by a regression that has not seen it: it gets the
  // mean of the others' indices.
  const Matrix<double> identity = Matrix<double>::Identity(n, n);
  const auto blind = position_probe(identity, index, {0, n, false, 0});
  for (int i = 0; i < n; ++i) {
    Matrix<double> others(n - 1, n), theirs(n - 1, 1);
    for (int k = 0, other = 0; other < n; ++other) {
      if (other != i) others.row(k) = identity.row(other), theirs(k++, 0) = other;
    }
    EXPECT_EQ(blind.predicted[i], predict(fit_ridge(others, theirs, 0), identity.row(i))(0, 0));
    EXPECT_NEAR(blind.predicted[i], (190.0 - i) / 19, 1e-12);
  }
}

// Wang & Chen's measures on the sinusoid of 512 by 768: 0.0 when rows are shuffled across folds, 41 when
// folds are contiguous.
TEST(Probes, PositionFromTheSinusoid) {
  const auto table =
      sinusoidal<double>({512, 768, Layout::interleaved, Spacing::d_model, 10000, 0});
  Vector<double> index(512);
  std::iota(index.begin(), index.end(), 0);
  EXPECT_EQ(position_probe(table, index, {0, 5, true, 1}).mean_absolute_error, 0);
  const double contiguous = position_probe(table, index, {0, 5, false, 1}).mean_absolute_error;
  EXPECT_NEAR(contiguous, 41, 0.5);
}

// 3.7 to 7.6% of pairs in the wrong order over twelve seeds, 6.5% on average.
TEST(Probes, OrderFromTheSinusoid) {
  const auto table =
      sinusoidal<double>({512, 768, Layout::interleaved, Spacing::d_model, 10000, 0});
  double mean = 0;
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const auto probe = order_probe(table, 512, {1, 5, true, seed});
    EXPECT_NEAR(probe.error, 0.055, 0.035) << seed;
    mean += probe.error / 3;
    for (std::size_t k = 0; k < probe.first.size(); ++k) ASSERT_NE(probe.first[k], probe.second[k]);
  }
  EXPECT_NEAR(mean, 0.065, 0.02);
}

TEST(Probes, OrderIsReadFromALineAndNotFromNoise) {
  Shapes shapes(3);
  Matrix<double> line(40, 1);
  for (int i = 0; i < 40; ++i) line(i, 0) = i;
  EXPECT_LT(order_probe(line, 300, {1e-3, 5, true, 1}).error, 0.02);
  // The same vector everywhere leaves a coin toss: within five standard errors of one half.
  const auto constant = order_probe(Matrix<double>::Ones(40, 3), 400, {1, 5, true, 2});
  EXPECT_NEAR(constant.error, 0.5, 5 * 0.5 / 20);
}

// On disjoint coordinates the token is simply there; in the same ones, isotropic, the best linear guess
// of t from t + p is half of x, which explains half.
TEST(Probes, TokenFromTheSum) {
  Shapes shapes(4);
  const int d = 8;
  Matrix<double> tokens = Matrix<double>::Zero(300, d), positions = Matrix<double>::Zero(300, d);
  tokens.leftCols(4) = shapes.matrix(300, 4);
  positions.rightCols(4) = shapes.matrix(300, 4);
  const TokenProbeOptions options{1e-6, 0.2, 4000, 4000, 5};
  const auto disjoint = token_probe(tokens, positions, options);
  EXPECT_NEAR(disjoint.r_squared, 1, 1e-9);
  EXPECT_NEAR(disjoint.mean_cosine, 1, 1e-9);
  EXPECT_EQ(disjoint.held_out_tokens.size(), 60u);
  EXPECT_EQ(disjoint.held_out_positions.size(), 60u);
  const auto same = token_probe(shapes.matrix(300, d), shapes.matrix(300, d), options);
  EXPECT_NEAR(same.r_squared, 0.5, 0.08);
  EXPECT_NEAR(same.training_r_squared, 0.5, 0.08);
}

// What is held out has no part in the fit.
TEST(Probes, HeldOutTokensAndPositionsAreNotTrainedOn) {
  Shapes shapes(6);
  Matrix<double> tokens = shapes.matrix(30, 5), positions = shapes.matrix(20, 5);
  const auto before = token_probe(tokens, positions, {});
  for (int row : before.held_out_tokens) tokens.row(row).array() += 100;
  for (int row : before.held_out_positions) positions.row(row).array() -= 50;
  const auto after = token_probe(tokens, positions, {});
  EXPECT_EQ(after.training_r_squared, before.training_r_squared);
  EXPECT_NE(after.r_squared, before.r_squared);
}

// Fewer training positions than dimensions can be learnt by heart; held-out ones show that it was that.
TEST(Probes, HoldingOutPositionsMatters) {
  Shapes shapes(5);
  const int d = 40;
  const auto probe = token_probe(shapes.matrix(2000, d), shapes.matrix(10, d, 3),
                                 {1e-3, 0.2, 3000, 1000, 6});
  EXPECT_GT(probe.training_r_squared, 0.75);
  EXPECT_LT(probe.r_squared, 0);
}

}  // namespace
}  // namespace superpose
