// Shares of scores: which pairs count, what has none, and numbers near the ends of the range.
#include "scores/shares.h"

#include <gtest/gtest.h>

#include <cmath>

#include "numeric/centred.h"
#include "random_shapes.h"
#include "scores/decomposition.h"

namespace superpose {
namespace {

Matrix<double> sum_of(const Matrix<double>& terms, int n) {
  Matrix<double> sum = Matrix<double>::Zero(n, n);
  for (int t = 0; t < terms.rows(); ++t) sum += ConstMatrixMap<double>(terms.row(t).data(), n, n);
  return sum;
}

TEST(Shares, WhatIsConstantAlongARowHasNone) {
  Shapes shapes(2);
  const int n = 5;
  Matrix<double> terms = shapes.matrix(2, n * n);
  MatrixMap<double> constant(terms.row(1).data(), n, n);
  constant = (100 * shapes.vector(n)).replicate(1, n);
  const Matrix<double> logits = sum_of(terms, n);
  const auto shares = row_centred_covariances(terms.data(), 2, logits.data(), n).shares;
  EXPECT_NEAR(shares[0], 1, 1e-12);
  EXPECT_NEAR(shares[1], 0, 1e-12);
}

// Row 0 is excluded, and later keys are not seen: two scores of query 2 remain, 1 and 3.
TEST(Shares, ByHandOverThePairsThatCount) {
  Matrix<double> terms(2, 9);
  terms << 9, 9, 9, 9, 5, 9, 9, 4, 8,  //
      7, 7, 7, 7, 7, 7, 7, -3, -5;
  const auto result =
      row_centred_covariances(terms.data(), 2, sum_of(terms, 3).eval().data(), 3, {{1, 0, 0}, true});
  EXPECT_EQ(result.logits, 2);
  EXPECT_EQ(result.shares[0], 2);
  EXPECT_EQ(result.shares[1], -1);
}

// The same token everywhere: all keys are equal, and their scores differ only by rounding.
TEST(Shares, OfEqualTokensAreNaN) {
  const int cases = 300;
  Shapes shapes(11);
  int rounded = 0;
  for (int trial = 0; trial < cases; ++trial) {
    const int n = shapes.between(1, 40), heads = shapes.between(1, 4), width = shapes.between(1, 32);
    const int d = shapes.between(1, 96);
    const auto linear = [&] {
      const Linear<double> drawn = shapes.linear(heads * width, d, shapes.coin());
      return Linear<float>{drawn.weight.cast<float>(), drawn.bias.cast<float>()};
    };
    const auto same = [&] { return Matrix<float>(shapes.matrix(1, d).cast<float>().replicate(n, 1)); };
    const Norm kind = shapes.coin() ? Norm::layer_norm : Norm::none;
    const Matrix<float> token = same(), position = same();
    const auto parts = project_sum({token, position}, {{kind, {}, {}, 1e-12}, linear(), linear(), heads, 1});
    Matrix<float> terms(parts.terms(), n * n), logits(n, n);
    for (int head = 0; head < heads; ++head) {
      head_terms(parts, head, terms.data(), logits.data());
      const auto covariances = row_centred_covariances(terms.data(), parts.terms(), logits.data(), n);
      EXPECT_EQ(covariances.logits, 0) << trial;
      EXPECT_EQ(covariances.terms, Vector<double>::Zero(parts.terms())) << trial;
      EXPECT_TRUE(covariances.shares.array().isNaN().all())
          << trial << ": " << covariances.shares.transpose();
      rounded += (logits.colwise() - logits.rowwise().mean()).cwiseAbs().maxCoeff() > 0;
    }
  }
  EXPECT_GT(rounded, cases / 10);  // otherwise rounding was not tested
}

// The scores themselves are rounded, by one unit in their last place, as floats or as doubles. A difference
// that is real in double may be mere rounding in float.
TEST(Shares, OfRoundingAloneAreNaN) {
  const auto covariances_of = [](auto next) {
    using Scalar = decltype(next);
    Matrix<Scalar> terms = Matrix<Scalar>::Constant(2, 9, 0.1f);
    terms(0, 4) = next;
    const Matrix<Scalar> logits = terms.colwise().sum();
    return row_centred_covariances(terms.data(), 2, logits.data(), 3);
  };
  const float in_float = std::nextafter(0.1f, 1.0f);
  for (const Covariances& none :
       {covariances_of(in_float), covariances_of(std::nextafter(double(0.1f), 1.0))}) {
    EXPECT_EQ(none.logits, 0);
    EXPECT_TRUE(none.shares.array().isNaN().all()) << none.shares.transpose();
  }
  EXPECT_GT(covariances_of(double(in_float)).logits, 0);
}

// A variation of 1e-12 is still a variation; its shares are accurate to its own rounding.
TEST(Shares, OfSmallVariationsRemain) {
  Shapes shapes(12);
  const int n = 8;
  Matrix<double> terms(2, n * n);
  terms.row(0) = shapes.matrix(1, n * n) * 1e-12;
  terms.row(1).setConstant(1);
  const Matrix<double> logits = sum_of(terms, n);
  const auto shares = row_centred_covariances(terms.data(), 2, logits.data(), n).shares;
  EXPECT_NEAR(shares[0], 1, 1e-3);
  EXPECT_NEAR(shares[1], 0, 1e-3);
}

// Variation counts at any place: here in the first key's scores alone.
TEST(Shares, OfOneKeyAlone) {
  Matrix<double> terms = Matrix<double>::Zero(2, 9);
  terms.row(0) << 3, 0, 0, 1, 0, 0, 5, 0, 0;
  terms.row(1) << 1, 0, 0, 1, 0, 0, 1, 0, 0;
  const auto result = row_centred_covariances(terms.data(), 2, sum_of(terms, 3).eval().data(), 3);
  // The logits' first column is 4, 2 and 6: products with terms 3, 1, 5 and 1, 1, 1; squares 16, 4 and 36.
  EXPECT_NEAR(result.shares[0], (12 + 2 + 30) / 56.0, 1e-15);
  EXPECT_NEAR(result.shares[1], (4 + 2 + 6) / 56.0, 1e-15);
}

// Large terms that cancel leave scores that are mere rounding of these terms.
TEST(Shares, OfTermsThatCancelAreNaN) {
  Shapes shapes(13);
  const int n = 6;
  Matrix<double> terms = shapes.matrix(2, n * n);
  const Matrix<double> logits = 1e-9 * MatrixMap<double>(terms.row(1).data(), n, n);
  terms.row(0) *= 1e8;
  terms.row(1) = 1e-9 * terms.row(1) - terms.row(0);
  const auto result = row_centred_covariances(terms.data(), 2, logits.data(), n);
  EXPECT_EQ(result.logits, 0);
  EXPECT_TRUE(result.shares.array().isNaN().all()) << result.shares.transpose();
}

// The square of one score is beyond the range of doubles, wherever it stands and whatever its sign.
TEST(Shares, OfOneHugeScore) {
  const int n = 5;
  for (int place = 0; place < n * n; ++place) {
    for (const double huge : {1e200, -1e200}) {
      Matrix<double> terms = Matrix<double>::Zero(2, n * n);
      terms(0, place) = huge;
      terms(1, place) = 3 * huge;
      const auto result = row_centred_covariances(terms.data(), 2, sum_of(terms, n).eval().data(), n);
      EXPECT_NEAR(result.shares[0], 0.25, 1e-15) << place;
      EXPECT_NEAR(result.shares[1], 0.75, 1e-15) << place;
    }
  }
}

// Floats are summed as doubles, at every number of keys.
TEST(Shares, OfFloatsAreThoseOfTheSameDoubles) {
  Shapes shapes(14);
  for (int n = 2; n <= 9; ++n) {
    const Matrix<float> terms = shapes.matrix(3, n * n).cast<float>(), logits = terms.colwise().sum();
    const Matrix<double> exact = terms.cast<double>(), exact_logits = logits.cast<double>();
    const auto of_floats = row_centred_covariances(terms.data(), 3, logits.data(), n);
    const auto of_doubles = row_centred_covariances(exact.data(), 3, exact_logits.data(), n);
    EXPECT_EQ(of_floats.shares, of_doubles.shares) << n;
    EXPECT_EQ(of_floats.logits, of_doubles.logits) << n;
  }
}

TEST(Shares, OneTokenHasNoMeaningfulShare) {
  const double term = 3;
  const auto result = row_centred_covariances(&term, 1, &term, 1);
  EXPECT_EQ(result.logits, 0);
  EXPECT_TRUE(std::isnan(result.shares[0]));
  EXPECT_EQ(row_centred_covariances<double>(nullptr, 0, nullptr, 0).logits, 0);
}

}  // namespace
}  // namespace superpose
