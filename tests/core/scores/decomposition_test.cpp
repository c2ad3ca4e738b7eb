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
  return project_sum(c.summands, c.norm, c.query, c.key, c.heads, c.scale);
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

// Terms alone need neither the whole input nor, where it is zero, the constant.
TEST(Decomposition, TermsAloneAreTheTerms) {
  Shapes shapes(7);
  for (int trial = 0; trial < 50; ++trial) {
    const bool biases = shapes.coin();
    SumCase c = random_case(shapes, 2, biases);
    if (!biases) c.norm.beta = {};
    const auto parts = project(c);
    auto alone = project_sum(c.summands, c.norm, c.query, c.key, c.heads, c.scale, false);
    EXPECT_FALSE(
        (alone.queries.bottomRows(3 * c.n).array() != parts.queries.bottomRows(3 * c.n).array()).any());
    const bool constant = biases || c.norm.beta.size();
    if (!constant) leave_out_constant(alone);
    EXPECT_EQ(alone.parts, constant ? 3 : 2);
    const Eigen::Index size = c.n * c.n;
    for (int head = 0; head < c.heads; ++head) {
      const auto whole = head_of(parts, head);
      Vector<double> terms(alone.terms() * size);
      head_terms(alone, head, terms.data());
      for (int s = 0; s < 3; ++s) {
        for (int r = 0; r < 3; ++r) {
          if (s < alone.parts && r < alone.parts) {
            const ConstMatrixMap<double> found(terms.data() + (s * alone.parts + r) * size, c.n, c.n);
            EXPECT_FALSE((found.array() != whole.term(3 * s + r).array()).any()) << s << r;
          } else {
            EXPECT_EQ(max_abs(whole.term(3 * s + r)), 0) << s << r;
          }
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
      {shapes.matrix(n, d), shapes.matrix(n, d, 0.4), shapes.matrix(1, d, 0.4).replicate(n, 1)}, norm,
      shapes.linear(d, d, true), shapes.linear(d, d, true), heads, 1 / std::sqrt(32));
  for (int head = 0; head < heads; ++head) EXPECT_LT(head_of(parts, head).residual, 1e-12);
}

// Term (s, r) belongs to query summand s and key summand r: it vanishes if and only if one of
// the two does. This fixes the order and distinguishes a term from its transpose.
TEST(Decomposition, EachTermBelongsToItsTwoSummands) {
  Shapes shapes(2);
  SumCase c = random_case(shapes, 3);
  c.norm = {};
  for (int silent = 0; silent < 3; ++silent) {
    SumCase quiet = c;
    quiet.summands[silent].setZero();
    const auto result = head_of(project(quiet), 0);
    for (int s = 0; s < 4; ++s) {
      for (int r = 0; r < 4; ++r) {
        const double size = max_abs(result.term(4 * s + r));
        if (s == silent || r == silent)
          EXPECT_EQ(size, 0) << s << r;
        else
          EXPECT_GT(size, 1e-6) << s << r;
      }
    }
  }
}

TEST(Decomposition, QueriesAreInRows) {
  SumCase c;
  c.n = 2, c.heads = 1, c.d_h = 1, c.scale = 1;
  Matrix<double> x(2, 1), p(2, 1);
  x << 2, 3;
  p << 10, 100;
  c.summands = {x, p};
  c.query = {Matrix<double>::Constant(1, 1, 1), {}};
  c.key = {Matrix<double>::Constant(1, 1, 5), {}};
  const auto result = head_of(project(c), 0);
  Matrix<double> token_position(2, 2);
  token_position << 2 * 50, 2 * 500, 3 * 50, 3 * 500;
  EXPECT_EQ(result.term(1), token_position);
  EXPECT_EQ(result.logits(0, 1), (2 + 10) * 5 * (3 + 100));
}

// The four-term formula of the discussions is the case without LayerNorm and biases.
TEST(Decomposition, FourTermsWithoutNormAndBiases) {
  Shapes shapes(3);
  SumCase c = random_case(shapes, 2, false);
  c.norm = {};
  const auto result = head_of(project(c), 0);
  const Matrix<double> a = c.query.weight.topRows(c.d_h).transpose() * c.key.weight.topRows(c.d_h) * c.scale;
  for (int s = 0; s < 2; ++s) {
    for (int r = 0; r < 2; ++r) {
      EXPECT_LT(max_abs(result.term(3 * s + r) - c.summands[s] * a * c.summands[r].transpose()), 1e-12);
    }
  }
  for (int t : {2, 5, 6, 7, 8}) EXPECT_EQ(max_abs(result.term(t)), 0);
}

TEST(Decomposition, SummandTimesConstantIsConstantInTheKey) {
  Shapes shapes(4);
  SumCase c = random_case(shapes, 3);
  c.n = 5;
  for (auto& summand : c.summands) summand = shapes.matrix(5, summand.cols());
  const auto result = head_of(project(c), 0);
  for (int s = 0; s < 4; ++s) {
    const Matrix<double> in_key = result.term(4 * s + 3), in_query = result.term(4 * 3 + s);
    EXPECT_LT(max_abs(in_key.colwise() - in_key.col(0)), 1e-15);
    EXPECT_LT(max_abs(in_query.rowwise() - in_query.row(0)), 1e-15);
  }
}

TEST(Decomposition, MergedPartsHaveTheSumsOfTheTerms) {
  Shapes shapes(10);
  const SumCase c = random_case(shapes, 3);
  const auto parts = project(c);
  const auto fine = head_of(parts, 0);
  const std::vector<int> group_of = {0, 1, 0, 0};
  const auto coarse = head_of(merge_parts(parts, group_of, 2), 0);
  ASSERT_EQ(coarse.terms.rows(), 4);
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      Matrix<double> sum = Matrix<double>::Zero(c.n, c.n);
      for (int s = 0; s < 4; ++s) {
        for (int r = 0; r < 4; ++r) {
          if (group_of[s] == a && group_of[r] == b) sum += fine.term(4 * s + r);
        }
      }
      EXPECT_LT(max_abs(sum - coarse.term(2 * a + b)), 1e-12 * std::max(1.0, max_abs(fine.terms)));
    }
  }
  EXPECT_EQ(coarse.logits, fine.logits);
}

// Normalizing the summands one by one, as some published code does, gives parts that do not add up.
TEST(Decomposition, NormalizingSummandsSeparatelyMissesTheLogits) {
  Shapes shapes(5);
  const int n = 8, d = 32, heads = 2, d_h = 8;
  const Normalization<double> norm{Norm::layer_norm, shapes.vector(d), shapes.vector(d), 1e-12};
  const std::vector<Matrix<double>> summands = {shapes.matrix(n, d), shapes.matrix(n, d, 0.3)};
  const auto query = shapes.linear(heads * d_h, d, true), key = shapes.linear(heads * d_h, d, true);
  const double scale = 1 / std::sqrt(d_h);
  const auto logits = head_of(project_sum(summands, norm, query, key, heads, scale), 0).logits;

  const std::vector<Matrix<double>> apart = {normalize<double>({summands[0]}, norm).whole(),
                                             normalize<double>({summands[1]}, norm).whole()};
  const auto wrong = head_of(project_sum<double>(apart, {}, query, key, heads, scale), 0).logits;
  EXPECT_GT(max_abs(wrong - logits), 1);
}

TEST(Decomposition, KeyBiasAndKeyBetaNeverChangeTheWeights) {
  Shapes shapes(6);
  for (int trial = 0; trial < 30; ++trial) {
    const SumCase c = random_case(shapes, 3);
    SumCase without = c;
    without.key.bias = {};
    auto with_bias = head_of(project(c), 0).logits;
    auto without_bias = head_of(project(without), 0).logits;
    softmax_rows(with_bias);
    softmax_rows(without_bias);
    EXPECT_LT(max_abs(with_bias - without_bias), 1e-14);
  }
}

TEST(Decomposition, HeadsDoNotMix) {
  Shapes shapes(7);
  SumCase c = random_case(shapes, 2);
  c.heads = 3;
  const int d = c.summands[0].cols();
  c.query = shapes.linear(3 * c.d_h, d, true);
  c.key = shapes.linear(3 * c.d_h, d, true);
  SumCase last = c;
  last.heads = 1;
  last.query = {c.query.weight.bottomRows(c.d_h), c.query.bias.tail(c.d_h)};
  last.key = {c.key.weight.bottomRows(c.d_h), c.key.bias.tail(c.d_h)};
  EXPECT_LT(max_abs(head_of(project(c), 2).terms - head_of(project(last), 0).terms), 1e-13);
}

TEST(Decomposition, NoTokensAndOneToken) {
  Shapes shapes(8);
  SumCase c = random_case(shapes, 2);
  for (auto& summand : c.summands) summand.resize(0, summand.cols());
  EXPECT_EQ(head_of(project(c), 0).residual, 0);
  SumCase one = random_case(shapes, 2);
  one.n = 1;
  for (auto& summand : one.summands) summand = summand.topRows(1).eval();
  EXPECT_NEAR(head_of(project(one), 0).logits(0, 0), logit_by_hand(one, 0, 0, 0), 1e-12);
}

// A rounding error of u per operation, in sums of d and then d_h products of about 1: the float
// residual stays within a small multiple of (d + d_h) u times the terms' own size.
TEST(Decomposition, FloatResidualIsRoundingAndNoMore) {
  const int n = 16, d = 64, heads = 2, d_h = 16;
  std::vector<Matrix<float>> summands;
  for (std::uint32_t s = 0; s < 3; ++s) summands.push_back(random_normal<float>(n, d, 1, 9, s));
  const Linear<float> query{random_normal<float>(heads * d_h, d, 0.125, 9, 10), {}};
  const Linear<float> key{random_normal<float>(heads * d_h, d, 0.125, 9, 11), {}};
  const Normalization<float> norm{Norm::layer_norm, {}, {}, 1e-12f};
  const auto parts = project_sum<float>(summands, norm, query, key, heads, 0.25f);
  Matrix<float> terms(16, n * n), logits(n, n);
  const float residual = head_terms(parts, 1, terms.data(), logits.data());
  const float size = terms.cwiseAbs().colwise().sum().maxCoeff();
  EXPECT_GT(residual, 0);
  EXPECT_LT(residual, (d + d_h) * 6e-8f * size);
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
