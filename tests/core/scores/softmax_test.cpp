#include "scores/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "numeric/centred.h"
#include "random_shapes.h"
#include "scores/decomposition.h"

namespace superpose {
namespace {

// As figures take it: with no term included all keys that a query sees have the same weight.
Matrix<double> softmax_of_terms(const double* terms, Eigen::Index n, const std::vector<bool>& included,
                                bool causal = false) {
  Matrix<double> weights = sum_of_terms(terms, n, included);
  softmax_rows(weights, causal);
  return weights;
}

TEST(Softmax, IsTheDefinition) {
  Shapes shapes(1);
  const Matrix<double> logits = shapes.matrix(5, 5, 2);
  Matrix<double> weights = logits;
  softmax_rows(weights);
  for (int i = 0; i < 5; ++i) {
    double sum = 0;
    for (int j = 0; j < 5; ++j) sum += std::exp(logits(i, j));
    for (int j = 0; j < 5; ++j) EXPECT_NEAR(weights(i, j), std::exp(logits(i, j)) / sum, 1e-15);
  }
}

TEST(Softmax, LargeLogitsDoNotOverflow) {
  Matrix<double> weights(1, 3);
  weights << 1e308, 1e308, -1e308;
  softmax_rows(weights);
  EXPECT_DOUBLE_EQ(weights(0, 0), 0.5);
  EXPECT_EQ(weights(0, 2), 0);
}

TEST(Softmax, SubsetOfTermsIsSoftmaxOfTheirSum) {
  Shapes shapes(2);
  const int n = 4;
  const Matrix<double> terms = shapes.matrix(3, n * n);
  Matrix<double> expected =
      ConstMatrixMap<double>(terms.row(0).data(), n, n) + ConstMatrixMap<double>(terms.row(2).data(), n, n);
  softmax_rows(expected);
  EXPECT_LT(max_abs(softmax_of_terms(terms.data(), n, {true, false, true}) - expected), 1e-16);
  EXPECT_LT(max_abs(softmax_of_terms(terms.data(), n, {false, false, false}).array() - 0.25), 1e-16);
}

TEST(Softmax, OfACausalModelIsOverTheKeysThatAQuerySees) {
  Shapes shapes(3);
  const int n = 5;
  const Matrix<double> terms = shapes.matrix(2, n * n);
  const Matrix<double> sum = sum_of_terms(terms.data(), n, {true, true});
  const Matrix<double> weights = softmax_of_terms(terms.data(), n, {true, true}, true);
  const Matrix<double> even = softmax_of_terms(terms.data(), n, {false, false}, true);
  const Matrix<double> seen = seen_by_softmax(sum, true);
  for (int i = 0; i < n; ++i) {
    double total = 0, mean = 0;
    for (int j = 0; j <= i; ++j) {
      total += std::exp(sum(i, j));
      mean += sum(i, j) / (i + 1);
    }
    for (int j = 0; j < n; ++j) {
      EXPECT_NEAR(weights(i, j), j <= i ? std::exp(sum(i, j)) / total : 0, 1e-15);
      EXPECT_NEAR(even(i, j), j <= i ? 1.0 / (i + 1) : 0, 1e-15);
      if (j <= i) {
        EXPECT_NEAR(seen(i, j), sum(i, j) - mean, 1e-15);
      } else {
        EXPECT_TRUE(std::isnan(seen(i, j)));
      }
    }
  }
  EXPECT_LT(max_abs(seen_by_softmax(sum) - row_centred(sum)), 1e-15);
}

TEST(Softmax, NothingToNormalize) { EXPECT_EQ(softmax_of_terms(nullptr, 0, {true}).size(), 0); }

}  // namespace
}  // namespace superpose
