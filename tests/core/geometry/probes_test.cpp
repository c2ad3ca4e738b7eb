#include "geometry/probes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "encodings/sinusoidal.h"
#include "numeric/orthogonal.h"
#include "random_shapes.h"
#include "reference.h"
#include "sanitized.h"

namespace superpose {
namespace {

// The gradient of the penalized squares vanishes at the fit, by each of the three routes, at any penalty.
TEST(Probes, RidgeMinimizes) {
  Shapes shapes(1);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = shapes.between(1, 20), d = shapes.between(1, 20), k = shapes.between(1, 4);
    const Matrix<double> x = shapes.matrix(n, d), y = shapes.matrix(n, k);
    for (double penalty : {0.0, 1e-300, 1e-20, 1e-13, 1e-9, 1e-6, 1e-3, 0.5, 30.0}) {
      const Ridge ridge = fit_ridge(x, y, penalty);
      const Matrix<double> residual = y - predict(ridge, x);
      EXPECT_LT(max_abs(residual.colwise().sum()), 1e-10);
      EXPECT_LT(max_abs(residual.transpose() * x - penalty * ridge.weight), 1e-10);
    }
  }
}

// tests/reference/readback.json. Newton's method stops after a step d that gained at most 1e-12 of the loss:
// |d|^2 <= 2e-12 loss / m, with m the least curvature. That step left an error of at most M |d|^2 / (2 m),
// with M the largest third derivative: for log(1 + e^-s) that is 1/(6 sqrt(3)), times |(x, 1)|^3 for each
// row.
TEST(Probes, LogisticRegressionOfTheOracle) {
  const rapidjson::Document oracle = reference("readback.json");
  int cases = 0;
  for (const auto& given : oracle["logistic"].GetArray()) {
    const double penalty = given["penalty"].GetDouble();
    if (penalty == 0) continue;  // not taken: the dual has no unique answer then
    ++cases;
    const Matrix<double> x = matrix_of(given["x"]);
    Vector<double> sign(x.rows());
    for (int i = 0; i < sign.size(); ++i) sign[i] = given["labels"][i].GetInt() ? 1 : -1;
    const Logistic model = fit_logistic(x, sign, penalty);
    EXPECT_TRUE(model.converged);
    const Vector<double>& weight = model.weight;
    const Vector<double> scores = (x * weight).array() + model.intercept;

    Matrix<double> hessian = Matrix<double>::Zero(x.cols() + 1, x.cols() + 1);
    hessian.diagonal().head(x.cols()).setConstant(penalty);
    double third = 0, longest = 0;
    for (int i = 0; i < sign.size(); ++i) {
      Vector<double> row(x.cols() + 1);
      row << x.row(i).transpose(), 1;
      const double p = 1 / (1 + std::exp(-given["scores"][i].GetDouble()));
      hessian += p * (1 - p) * row * row.transpose();
      third += std::pow(row.norm(), 3) / (6 * std::sqrt(3));
      longest = std::max(longest, row.norm());
    }
    const double least = symmetric_eigen(hessian).values.minCoeff();
    const double bound = third * 1e-12 * given["objective"].GetDouble() / (least * least);
    EXPECT_LT(bound, 1e-9);  // or the test would say little
    EXPECT_NEAR(model.intercept, given["intercept"].GetDouble(), bound);
    for (int c = 0; c < weight.size(); ++c) {
      EXPECT_NEAR(weight[c], given["weight"][c].GetDouble(), bound);
    }
    double objective = penalty / 2 * weight.squaredNorm();
    int errors = 0;
    for (int i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(scores[i], given["scores"][i].GetDouble(), longest * bound);
      objective += std::log1p(std::exp(-sign[i] * scores[i]));
      errors += (scores[i] > 0) != (sign[i] > 0);
    }
    // At an optimum, an error of the weights counts squared.
    EXPECT_NEAR(objective, given["objective"].GetDouble(), 1e-14 * scores.size());
    EXPECT_EQ(errors, given["errors"].GetInt());
  }
  EXPECT_EQ(cases, 3);
}

// Columns of the sinusoid that hardly vary: X'X has no inverse in double, but X itself has one.
TEST(Probes, SmallPenaltiesReadThePosition) {
  const auto table = sinusoidal<double>({128, 64, Layout::interleaved, Spacing::d_model, 10000, 0});
  Vector<double> index(128);
  std::iota(index.begin(), index.end(), 0);
  for (double penalty : {0.0, 1e-300, 1e-20, 1e-15, 1e-13, 1e-12, 1e-9}) {
    EXPECT_EQ(position_probe(table, index, {penalty, 5, true, 0}).mean_absolute_error, 0) << penalty;
  }
}

// Where both routes work, by normal equations and by singular values, they agree.
TEST(Probes, RoutesMeet) {
  Shapes shapes(7);
  for (const Matrix<double>& x : {shapes.matrix(30, 8), shapes.matrix(8, 30)}) {
    const Matrix<double> y = shapes.matrix(x.rows(), 3);
    const double edge = 0x1p-20 * (x.rowwise() - x.colwise().mean()).squaredNorm();
    const Ridge above = fit_ridge(x, y, edge * (1 + 1e-13)), below = fit_ridge(x, y, edge * (1 - 1e-13));
    EXPECT_LT(max_abs(above.weight - below.weight), 1e-9 * max_abs(below.weight));
    const Vector<double> sign =
        (shapes.vector(x.rows()).array() > 0).select(Vector<double>::Ones(x.rows()), -1);
    const double of_gram = 0x1p-22 * x.squaredNorm();
    const Logistic dual = fit_logistic(x, sign, of_gram * (1 + 1e-13));
    const Logistic primal = fit_logistic(x, sign, of_gram * (1 - 1e-13));
    EXPECT_TRUE(dual.converged && primal.converged);
    EXPECT_LT(max_abs(dual.weight - primal.weight), 1e-5 * max_abs(primal.weight));
  }
}

// At the optimum penalty w = X' (sign * miss), and the misses balance.
TEST(Probes, LogisticRegressionMinimizesAtAnyPenalty) {
  Shapes shapes(8);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = shapes.between(20, 60), d = shapes.between(1, 30);
    Matrix<double> x = shapes.matrix(n, d);
    for (int c = 0; c < d; ++c) x.col(c) *= std::pow(10, -shapes.between(0, 5));
    Vector<double> sign(n);
    for (int i = 0; i < n; ++i) sign[i] = (x(i, 0) + shapes.matrix(1, 1)(0, 0) > 0) ? 1 : -1;
    for (double penalty : {1e-12, 1e-9, 1e-6, 1e-3, 1.0, 100.0}) {
      const Logistic model = fit_logistic(x, sign, penalty);
      ASSERT_TRUE(model.converged) << n << " " << d << " " << penalty;
      const Vector<double> scores = (x * model.weight).array() + model.intercept;
      const Vector<double> slope = sign.array() / (1 + (sign.array() * scores.array()).exp());
      const Vector<double> gradient = penalty * model.weight - x.transpose() * slope;
      double objective = penalty / 2 * model.weight.squaredNorm();
      for (int i = 0; i < n; ++i) objective += std::log1p(std::exp(-sign[i] * scores[i]));
      // By strong convexity the remaining gain is at most |gradient|^2 / (2 penalty).
      EXPECT_LT(gradient.squaredNorm() / (2 * penalty), 1e-8 * objective) << n << " " << d << " " << penalty;
      EXPECT_LT(std::abs(slope.sum()), 1e-6 * slope.cwiseAbs().sum()) << n << " " << d << " " << penalty;
    }
  }
}

TEST(Probes, LogisticRegressionSaysThatItDidNotConverge) {
  Shapes shapes(9);
  const Matrix<double> x = shapes.matrix(12, 3);
  EXPECT_FALSE(fit_logistic(x, Vector<double>::Ones(12), 1).converged);
  const Vector<double> sign = (x.col(0).array() > 0).select(Vector<double>::Ones(12), -1);
  EXPECT_TRUE(fit_logistic(x, sign, 1e-10).converged);
  EXPECT_FALSE(fit_logistic(x, sign, 1e-300).converged);
}

TEST(Probes, OrderAtSmallPenalties) {
  const auto table = sinusoidal<double>({128, 64, Layout::interleaved, Spacing::d_model, 10000, 0});
  const double wanted = order_probe(table, 256, {1e-6, 5, true, 0}).error;
  EXPECT_LT(wanted, 0.1);
  const OrderProbe found = order_probe(table, 256, {1e-15, 5, true, 0});
  EXPECT_TRUE(found.converged);
  EXPECT_LT(found.error, 0.15);
}

// Only the penalty's size relative to the tables' squares matters.
TEST(Probes, TokenFromTablesInAnyUnit) {
  Shapes shapes(10);
  const Matrix<double> tokens = shapes.matrix(60, 24), positions = sinusoidal<double>({40, 24});
  const TokenProbeOptions options{1, 0.2, 300, 200, 1};
  TokenProbeOptions small = options;
  small.penalty = 0x1p-40;
  const auto found = token_probe(0x1p20 * tokens, 0x1p20 * positions, options);
  const auto wanted = token_probe(tokens, positions, small);
  EXPECT_NEAR(found.r_squared, wanted.r_squared, 1e-12);
  EXPECT_GT(token_probe(1e6 * tokens, 1e6 * positions, options).r_squared, 0.1);

  // With fewer rows than columns, nothing but a penalty of 1e-12 keeps the system from being singular.
  const Matrix<double> few = shapes.matrix(20, 64), places = sinusoidal<double>({12, 64});
  TokenProbeOptions none = options;
  none.penalty = 0;
  const double without = token_probe(few, places, none).r_squared;
  EXPECT_GT(without, 0.1);
  EXPECT_NEAR(token_probe(1e6 * few, 1e6 * places, options).r_squared, without, 1e-6);
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
  const auto seen = position_probe(line, index, {0, 5, false, 0});
  EXPECT_EQ(seen.mean_absolute_error, 0);
  // The mean of 0 to 19 is 9.5, rounded to 10.
  EXPECT_NEAR(seen.guessing_error, (55 + 45) / 20.0, 1e-14);
  // A row with a direction of its own cannot be predicted by a regression that has not seen it: it gets the
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
  const int n = kSanitized ? 64 : 512;
  const auto table = sinusoidal<double>({n, 3 * n / 2, Layout::interleaved, Spacing::d_model, 10000, 0});
  Vector<double> index(n);
  std::iota(index.begin(), index.end(), 0);
  EXPECT_EQ(position_probe(table, index, {0, 5, true, 1}).mean_absolute_error, 0);
  if (kSanitized) return;
  const double contiguous = position_probe(table, index, {0, 5, false, 1}).mean_absolute_error;
  EXPECT_NEAR(contiguous, 41, 0.5);
}

// 6.5% of pairs in the wrong order on average over twelve seeds (science.md, section 11). An error over 512
// pairs has the standard deviation of a proportion; the published mean is over twelve seeds.
TEST(Probes, OrderFromTheSinusoid) {
  const auto table = sinusoidal<double>({512, 768, Layout::interleaved, Spacing::d_model, 10000, 0});
  double mean = 0;
  const int seeds = kSanitized ? 1 : 12, pairs = 512;
  const double published = 0.065;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const auto probe = order_probe(table, pairs, {1, 5, true, seed});
    mean += probe.error / seeds;
    for (std::size_t k = 0; k < probe.first.size(); ++k) ASSERT_NE(probe.first[k], probe.second[k]);
  }
  const double of_one = std::sqrt(published * (1 - published) / pairs);
  EXPECT_NEAR(mean, published, 4 * of_one * std::sqrt(1.0 / seeds + 1.0 / 12));
}

TEST(Probes, OrderIsReadFromALineAndNotFromNoise) {
  Shapes shapes(3);
  Matrix<double> line(40, 1);
  for (int i = 0; i < 40; ++i) line(i, 0) = i;
  EXPECT_EQ(order_probe(line, 300, {1e-3, 5, true, 1}).error, 0);
  // The same vector everywhere is a coin toss: within five standard errors of one half.
  const auto constant = order_probe(Matrix<double>::Ones(40, 3), 400, {1, 5, true, 2});
  EXPECT_NEAR(constant.error, 0.5, 5 * 0.5 / 20);
}

// On disjoint coordinates the token can simply be read. On shared ones, isotropic, the best linear guess
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

  // With W = I/2 the miss is (p - t)/2, so R^2 = 1 - (|p|^2/|t|^2 + 1)/4 + <p, t>/(2 |t|^2) over the test
  // pairs. Its deviation comes from two mean squares, each of d squares of the held-out rows and of how
  // often a row is drawn, and from a mean product. W is fitted to covariances of the training rows, each
  // entry off by a variance of (1 + delta)/rows, which changes R^2 by (d + 1)/(4 rows) either way.
  const int size = 3000;
  const auto same = token_probe(shapes.matrix(size, d), shapes.matrix(size, d), options);
  const auto allowed = [&](double rows, double pairs) {
    const double squares = 4.0 / d * (1 / rows + 1 / pairs) / 16, product = 1 / (4.0 * d * pairs);
    const double trained = 1 / (1 / (0.8 * size) + 1.0 / options.training_pairs);
    return 4 * std::sqrt(squares + product) + (d + 1) / (4 * trained);
  };
  EXPECT_NEAR(same.r_squared, 0.5, allowed(0.2 * size, options.test_pairs));
  EXPECT_NEAR(same.training_r_squared, 0.5, allowed(0.8 * size, options.training_pairs));
  EXPECT_LT(allowed(0.2 * size, options.test_pairs), 0.04);  // or the test would say little
}

// Held-out rows do not affect the fit.
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

// Fewer training positions than dimensions can be memorized; held-out ones reveal that.
TEST(Probes, HoldingOutPositionsMatters) {
  Shapes shapes(5);
  const int d = 40;
  const auto probe = token_probe(shapes.matrix(2000, d), shapes.matrix(10, d, 3), {1e-3, 0.2, 3000, 1000, 6});
  EXPECT_GT(probe.training_r_squared, 0.75);
  EXPECT_LT(probe.r_squared, 0);
}

}  // namespace
}  // namespace superpose
