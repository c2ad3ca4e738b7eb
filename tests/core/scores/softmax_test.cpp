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

}  // namespace
}  // namespace superpose
