#include "scores/decomposition_layer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "random_shapes.h"

namespace superpose {
namespace {

constexpr double kUntouched = 1e300;

// A layer, its current tables and factors, and the terms as its calls have left them.
struct LayerCase {
  Linear<double> query, key;
  Normalization<double> norm;
  int heads;
  double scale;
  std::vector<Matrix<double>> tables;
  std::vector<double> factors;
  Gauge<double> gauge;

  LayerCase(Shapes& shapes, int summands, int n, int d, int d_h)
      : heads(shapes.between(1, 3)), scale(shapes.vector(1)[0]) {
    query = shapes.linear(heads * d_h, d, shapes.coin());
    key = shapes.linear(heads * d_h, d, shapes.coin());
    if (shapes.coin()) norm = {Norm::layer_norm, shapes.vector(d), {}, 1e-12};
    if (norm.gamma.size() && shapes.coin()) norm.beta = shapes.vector(d);
    for (int s = 0; s < summands; ++s) {
      tables.push_back(shapes.matrix(n, d));
      factors.push_back(shapes.coin() ? 1 : shapes.vector(1)[0]);
    }
    gauge.kind = static_cast<GaugeKind>(shapes.between(0, 2));
    if (gauge.kind == GaugeKind::means) gauge.means = shapes.matrix(summands, d);
    if (shapes.coin()) gauge.apart = {0};
  }

  DecompositionLayer<double> layer() const {
    return {query, key, norm, heads, scale, static_cast<int>(tables.size()), gauge};
  }

  // As project_sum() and head_terms() compute them, without the constant where there is none.
  std::vector<double> wanted(const std::vector<int>& chosen, int parts) const {
    std::vector<Matrix<double>> scaled;
    for (std::size_t s = 0; s < tables.size(); ++s) scaled.push_back(factors[s] * tables[s]);
    auto projected = project_sum(scaled, norm, query, key, heads, scale);
    apply_gauge(gauge, norm, query, key, projected);
    const Eigen::Index n = tables[0].rows();
    std::vector<double> terms;
    Matrix<double> of_head(projected.terms(), n * n), logits(n, n);
    for (int head : chosen) {
      head_terms(projected, head, of_head.data(), logits.data());
      for (int s = 0; s < parts; ++s) {
        for (int r = 0; r < parts; ++r) {
          const double* const term = of_head.row(s * projected.parts + r).data();
          terms.insert(terms.end(), term, term + n * n);
        }
      }
    }
    return terms;
  }
};

// Returns how many values were written.
std::size_t run(DecompositionLayer<double>& layer, const LayerCase& c, const std::vector<int>& heads,
                bool kept, std::vector<double>& terms) {
  layer.resize(c.tables[0].rows());
  for (std::size_t s = 0; s < c.tables.size(); ++s) {
    std::copy_n(c.tables[s].data(), layer.table_size(), layer.next_table());
    layer.take(static_cast<int>(s), c.factors[s]);
  }
  const std::size_t n = layer.tokens();
  if (!kept) terms.assign(heads.size() * layer.parts() * layer.parts() * n * n, kUntouched);
  std::size_t written = 0;
  layer.terms(heads, kept, [&](const double* from, std::size_t count, std::size_t at) {
    ASSERT_LE(at + count, terms.size());
    std::copy_n(from, count, terms.begin() + at);
    written += count;
  });
  return written;
}

void are_equal(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  double size = 1;
  for (double value : wanted) size = std::max(size, std::abs(value));
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-12 * size) << i;
}

TEST(DecompositionLayer, GivesTheTermsOfTheDecomposition) {
  Shapes shapes(1);
  for (int trial = 0; trial < 150; ++trial) {
    const int n = shapes.between(1, 9), d = shapes.between(2, 12), d_h = shapes.between(1, 6);
    const LayerCase c(shapes, shapes.between(1, 3), n, d, d_h);
    auto layer = c.layer();
    std::vector<int> heads;
    for (int h = c.heads - 1; h >= 0; --h) {
      if (shapes.coin()) heads.push_back(h);
    }
    std::vector<double> terms;
    const std::size_t written = run(layer, c, heads, false, terms);
    EXPECT_EQ(written, terms.size());
    are_equal(terms, c.wanted(heads, layer.parts()));
  }
}

// Whatever changes between calls, the values written and those kept give the new terms.
TEST(DecompositionLayer, AfterAnyChangesGivesTheNewTerms) {
  Shapes shapes(2);
  for (int trial = 0; trial < 60; ++trial) {
    const int d = shapes.between(2, 12), summands = shapes.between(1, 3);
    LayerCase c(shapes, summands, shapes.between(1, 9), d, shapes.between(1, 5));
    auto layer = c.layer();
    const std::vector<int> heads = {c.heads - 1, 0};
    std::vector<double> terms;
    run(layer, c, heads, false, terms);
    for (int step = 0; step < 6; ++step) {
      const int s = shapes.between(0, summands - 1);
      bool kept = true;
      switch (shapes.between(0, 4)) {
        case 0:  // one row
          c.tables[s].row(shapes.between(0, c.tables[s].rows() - 1)) = shapes.vector(d).transpose();
          break;
        case 1:
          c.factors[s] = shapes.vector(1)[0];
          break;
        case 2: {  // another number of tokens
          const int n = shapes.between(1, 9);
          for (auto& table : c.tables) table = shapes.matrix(n, d);
          kept = false;
          break;
        }
        case 3:  // one entry
          c.tables[s](shapes.between(0, c.tables[s].rows() - 1), shapes.between(0, d - 1)) += 1;
          break;
        default:
          break;
      }
      run(layer, c, heads, kept, terms);
      are_equal(terms, c.wanted(heads, layer.parts()));
    }
  }
}

TEST(DecompositionLayer, WritesOnlyWhatAChangeTouches) {
  Shapes shapes(3);
  LayerCase c(shapes, 2, 7, 8, 3);
  c.norm = {};
  c.gauge = {};
  c.query.bias = c.key.bias = {};
  auto layer = c.layer();
  std::vector<double> terms;
  const std::size_t size = 7 * 7;
  EXPECT_EQ(run(layer, c, {0}, false, terms), 4 * size);
  EXPECT_EQ(run(layer, c, {0}, true, terms), 0);
  c.tables[0](3, 2) += 1;  // all but position -> position
  EXPECT_EQ(run(layer, c, {0}, true, terms), 3 * size);
  c.factors[1] *= 2;
  EXPECT_EQ(run(layer, c, {0}, true, terms), 3 * size);
  // A row's sigma is in every term of that row, so with a norm nothing can be kept.
  c.norm = {Norm::rms_norm, {}, {}, 1e-6};
  auto normalized = c.layer();
  run(normalized, c, {0}, false, terms);
  c.tables[0](3, 2) += 1;
  EXPECT_EQ(run(normalized, c, {0}, true, terms), 4 * size);
  // A gauge's constant contains the means of all summands, but position -> position can still be kept.
  c.norm = {};
  c.gauge.kind = GaugeKind::canonical;
  auto gauged = c.layer();
  EXPECT_EQ(run(gauged, c, {0}, false, terms), 9 * size);
  EXPECT_EQ(run(gauged, c, {0}, true, terms), 0);
  c.tables[0](3, 2) += 1;
  EXPECT_EQ(run(gauged, c, {0}, true, terms), 8 * size);
}

// More rows than are handed over at once, and a depth of more than one block.
TEST(DecompositionLayer, GivesTheTermsOfTheDecompositionWhenTheyLeaveInPieces) {
  Shapes shapes(4);
  LayerCase c(shapes, 2, 300, 400, 5);
  auto layer = c.layer();
  std::vector<double> terms;
  run(layer, c, {0}, false, terms);
  are_equal(terms, c.wanted({0}, layer.parts()));
  c.tables[0].row(299).setZero();
  run(layer, c, {0}, true, terms);
  are_equal(terms, c.wanted({0}, layer.parts()));
}

TEST(DecompositionLayer, NanOnceComesStillWhenItGoes) {
  Shapes shapes(5);
  LayerCase c(shapes, 2, 4, 6, 2);
  c.gauge = {};
  auto layer = c.layer();
  std::vector<double> terms;
  const Matrix<double> before = c.tables[1];
  c.tables[1](2, 2) = std::numeric_limits<double>::quiet_NaN();
  run(layer, c, {0}, false, terms);
  EXPECT_TRUE(std::isnan(terms[(1 * layer.parts() + 1) * 16 + 2 * 4]));
  c.tables[1] = before;
  run(layer, c, {0}, true, terms);
  are_equal(terms, c.wanted({0}, layer.parts()));
}

}  // namespace
}  // namespace superpose
