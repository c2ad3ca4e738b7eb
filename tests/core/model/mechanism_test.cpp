// Terms by mechanism add up in any shape, and means over positions follow their definitions at the extremes.
#include "model/mechanism.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "any_stack.h"
#include "model/position_means.h"
#include "scores/layer_norm.h"

namespace superpose {
namespace {

ScoreMeans any_means(Shapes& shapes, const AnyStack& any, int n, int first, bool placed) {
  const int of_queries = any.stack.options().heads * any.width,
            of_keys = any.stack.options().key_heads * any.width;
  const auto means = [&](int width) {
    const int places = std::max(1, n - first);
    return StateMeans{shapes.vector(width),
                      placed ? shapes.matrix(places, width) : Matrix<double>::Zero(places, width), first};
  };
  return {means(of_queries), means(of_keys)};
}

TEST(Mechanism, TermsAddUpInAnyShape) {
  Shapes shapes(41);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const int n = trial % 8 == 0 ? 1 : shapes.between(2, 9), first = shapes.between(0, 2);
    const AnyStack any = any_stack(shapes, 2);
    const TransformerStack& stack = any.stack;
    const auto run = traced_forward(stack, shapes.matrix(n, any.d).cast<float>());
    for (int l = 0; l < 2; ++l) {
      const ScoreMeans means = any_means(shapes, any, n, first, shapes.coin());
      const Mechanism mechanism(stack, run, l, means);
      for (int h = 0; h < stack.options().heads; ++h) {
        Matrix<float> terms(16, n * n), logits(n, n);
        const double residual = mechanism.head_terms(h, {0, 1, 2, 3}, 4, terms.data(), logits.data());
        EXPECT_EQ(logits, stack.logits(run, l, h));
        const double scale = std::max({1.0, max_abs(terms.cast<double>()), max_abs(logits.cast<double>())});
        EXPECT_LT(residual / scale, 64 * std::numeric_limits<float>::epsilon());
        Matrix<double> sum = Matrix<double>::Zero(n, n);
        for (int t = 0; t < 16; ++t) sum += MatrixMap<float>(terms.row(t).data(), n, n).cast<double>();
        EXPECT_NEAR(residual, max_abs(sum - logits.cast<double>()), 1e-12 * scale);
      }
    }
  }
}

// mu and pos_t of a window's rows, by hand.
TEST(PositionMeans, AreTheMeansOfRows) {
  PositionMeans means(2, 1, false);
  const float windows[2][2] = {{1, 4}, {3, 8}};
  for (const auto& rows : windows) means.add(rows);
  const PositionStatistics statistics = means.statistics(means);
  EXPECT_EQ(statistics.mean[0], 4);
  EXPECT_EQ(statistics.position(0, 0), -2);
  EXPECT_EQ(statistics.position(1, 0), 2);
}

// Sums over rows h of windows w at positions t, written out; C_P comes from the means of the two halves.
TEST(PositionMeans, StatisticsAreTheirDefinitions) {
  Shapes shapes(43);
  const int length = 3, d = 4, windows = 6;
  PositionMeans means(length, d, true);
  std::vector<Matrix<double>> rows;
  for (int w = 0; w < windows; ++w) {
    const Matrix<float> drawn = shapes.matrix(length, d).cast<float>();
    means.add(drawn.data());
    rows.push_back(drawn.cast<double>());
  }
  const PositionStatistics statistics = means.statistics(means);
  Matrix<double> half[2] = {Matrix<double>::Zero(length, d), Matrix<double>::Zero(length, d)};
  Matrix<double> content = Matrix<double>::Zero(d, d);
  double energy = 0;
  for (int w = 0; w < windows; ++w) {
    half[w % 2] += rows[w] / (windows / 2);
    energy += (rows[w].rowwise() - statistics.mean.transpose()).squaredNorm() / (windows * length);
  }
  const Matrix<double> mean = (half[0] + half[1]) / 2;
  for (const Matrix<double>& of : rows) content += (of - mean).transpose() * (of - mean);
  for (Matrix<double>& rows : half) rows = (rows.rowwise() - rows.colwise().mean()).eval();
  const Matrix<double> product = half[0].transpose() * half[1], by = product + product.transpose();
  EXPECT_NEAR(statistics.position_energy, half[0].cwiseProduct(half[1]).sum() / length / energy, 1e-12);
  EXPECT_NEAR(statistics.participation_ratio, std::pow(by.trace(), 2) / by.squaredNorm(), 1e-12);
  EXPECT_NEAR(statistics.overlap, d * (by * content).trace() / (by.trace() * content.trace()), 1e-11);
  EXPECT_NEAR(statistics.cosine_with_first, 1, 1e-12);
}

// Equal rows differ from their mean by rounding, which must not count as position.
TEST(PositionMeans, OfStatesThatDoNotVaryHaveNoEnergy) {
  for (int windows = 2; windows < 12; ++windows) {
    PositionMeans means(2, 3, true);
    const float rows[2][3] = {{0.1f, 0.7f, -1.3f}, {0.1f, 0.7f, -1.3f}};
    for (int w = 0; w < windows; ++w) means.add(rows[0]);
    EXPECT_TRUE(std::isnan(means.statistics(means).position_energy)) << windows;
  }
}

// Squares from 1e19 on are beyond a float.
TEST(RowNorm, OfEntriesWhoseSquaresOverflow) {
  Matrix<float> x(1, 3);
  x << -1e25f, 0, 1e25f;
  Vector<float> sigma;
  normalize_rows({Norm::layer_norm, {}, {}, 1e-5}, Centring::once, x, sigma);
  EXPECT_NEAR(sigma[0] / 1e25, std::sqrt(2.0 / 3), 1e-6);
  EXPECT_NEAR(x(2), std::sqrt(1.5), 1e-6);
}

}  // namespace
}  // namespace superpose
