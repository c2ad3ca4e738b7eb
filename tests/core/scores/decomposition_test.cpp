#include "scores/decomposition.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"
#include "scores/head.h"
#include "scores/softmax.h"

namespace superpose {
namespace {

struct SumCase {
  std::vector<Matrix<double>> summands;
  Normalization<double> norm;
  Linear<double> query, key;
  int heads, d_h, n;
  double scale;
};

SumCase random_case(Shapes& shapes, int summands, bool biases = true) {
  SumCase c;
  c.n = shapes.between(1, 8);
  c.heads = shapes.between(1, 4);
  c.d_h = shapes.between(1, 6);
  c.scale = 1 / std::sqrt(c.d_h);
  const int d = shapes.between(2, 12);
  for (int s = 0; s < summands; ++s) c.summands.push_back(shapes.matrix(c.n, d));
  if (shapes.coin()) c.norm = {Norm::layer_norm, shapes.vector(d), shapes.vector(d), 1e-12};
  c.query = shapes.linear(c.heads * c.d_h, d, biases);
  c.key = shapes.linear(c.heads * c.d_h, d, biases);
  return c;
}

ProjectedParts<double> project(const SumCase& c) {
  return project_sum(c.summands, {c.norm, c.query, c.key, c.heads, c.scale});
}

// Logits by definition; they share nothing with the code under test but the inputs.
double logit_by_hand(const SumCase& c, int head, int i, int j) {
  const int d = c.summands[0].cols();
  const auto embed = [&](int token) {
    std::vector<double> x(d, 0);
    for (const auto& summand : c.summands) {
      for (int k = 0; k < d; ++k) x[k] += summand(token, k);
    }
    if (c.norm.kind == Norm::none) return x;
    double mean = 0, variance = 0;
    for (double v : x) mean += v / d;
    for (double v : x) variance += (v - mean) * (v - mean) / d;
    for (int k = 0; k < d; ++k) {
      x[k] = c.norm.gamma[k] * (x[k] - mean) / std::sqrt(variance + c.norm.epsilon) + c.norm.beta[k];
    }
    return x;
  };
  const auto xi = embed(i), xj = embed(j);
  double dot = 0;
  for (int k = head * c.d_h; k < (head + 1) * c.d_h; ++k) {
    double q = c.query.bias.size() ? c.query.bias[k] : 0, y = c.key.bias.size() ? c.key.bias[k] : 0;
    for (int m = 0; m < d; ++m) {
      q += c.query.weight(k, m) * xi[m];
      y += c.key.weight(k, m) * xj[m];
    }
    dot += q * y;
  }
  return c.scale * dot;
}

// A token whose sum is nearly constant has a tiny sigma, and terms far larger than the logits they sum
// to. Rounding is relative to the terms, whose absolute values `size` adds up.
TEST(Decomposition, TermsSumToTheLogitsOfTheDefinition) {
  Shapes shapes(1);
  for (int trial = 0; trial < 120; ++trial) {
    const SumCase c = random_case(shapes, shapes.between(1, 4), shapes.coin());
    const auto parts = project(c);
    EXPECT_EQ(parts.terms(), static_cast<int>(std::pow(c.summands.size() + 1, 2)));
    for (int head = 0; head < c.heads; ++head) {
      const auto result = head_of(parts, head);
      const double size = result.terms.cwiseAbs().colwise().sum().maxCoeff();
      const double bound = 1e-13 * std::max(1.0, size);
      EXPECT_LT(result.residual, bound);
      EXPECT_LT(
          max_abs(result.terms.colwise().sum().reshaped<Eigen::RowMajor>(c.n, c.n).eval() - result.logits),
          bound);
      for (int i = 0; i < c.n; ++i) {
        for (int j = 0; j < c.n; ++j) {
          EXPECT_NEAR(result.logits(i, j), logit_by_hand(c, head, i, j), bound);
        }
      }
    }
  }
}

// BERT's three summands at a real width: the sixteen terms sum to the logits within 1e-12.
TEST(Decomposition, SixteenTermsAtBertsShape) {
  Shapes shapes(9);
  const int n = 16, d = 384, heads = 12;
  const Normalization<double> norm{Norm::layer_norm, shapes.vector(d), shapes.vector(d), 1e-12};
  const auto parts = project_sum<double>(
      {shapes.matrix(n, d), shapes.matrix(n, d, 0.4), shapes.matrix(1, d, 0.4).replicate(n, 1)},
      {norm, shapes.linear(d, d, true), shapes.linear(d, d, true), heads, 1 / std::sqrt(32)});
  for (int head = 0; head < heads; ++head) EXPECT_LT(head_of(parts, head).residual, 1e-12);
}

// Whole queries that are not the sum of their parts, for the first token alone: as if a term were missing.
TEST(Decomposition, TheResidualIsTheLargestWhereverItStands) {
  const double nan = std::nan("");
  for (const auto& [whole, residual] : {std::pair{5.0, 4.0}, {1.0, 0.0}, {-2.0, 3.0}, {nan, nan}}) {
    ProjectedParts<double> parts;
    parts.queries = (Matrix<double>(4, 1) << whole, 1, 1, 1).finished();
    parts.keys = Matrix<double>::Ones(4, 1);
    parts.tokens = 2;
    parts.parts = 1;
    Matrix<double> terms(2, 2), logits(2, 2);
    const double found = head_terms(parts, 0, terms.data(), logits.data());
    if (std::isnan(residual)) {
      EXPECT_TRUE(std::isnan(found));
    } else {
      EXPECT_EQ(found, residual);
    }
  }
}

// Room is made in place: every term goes on before another takes where it stood.
TEST(Decomposition, OnePartMoreLeavesTermsWhereTheirPartsAre) {
  for (const int parts : {1, 2, 3, 5}) {
    for (const int n : {0, 1, 3}) {
      const int all = parts + 1, size = n * n;
      std::vector<float> terms(all * all * size, -1);
      for (int k = 0; k < parts * parts * size; ++k) terms[k] = static_cast<float>(k + 1);
      make_room_for_a_part(terms.data(), parts, n);
      for (int query = 0; query < all; ++query) {
        for (int key = 0; key < all; ++key) {
          const bool there = query < parts && key < parts;
          for (int cell = 0; cell < size; ++cell) {
            const int before = (query * parts + key) * size + cell + 1;
            EXPECT_EQ(terms[(query * all + key) * size + cell], there ? before : 0);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace superpose
