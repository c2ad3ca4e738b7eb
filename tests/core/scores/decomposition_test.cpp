// The residual is the largest gap of any token, and constant rows become the norm's beta.
#include "scores/decomposition.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scores/layer_norm.h"

namespace superpose {
namespace {

// The whole query of the first token is not the sum of its parts, as if a term were missing.
TEST(Decomposition, TheResidualIsTheLargestGapOfAnyToken) {
  const float nan = std::nanf("");
  for (const auto& [query, residual] : {std::pair{5.0f, 4.0f}, {1.0f, 0.0f}, {-2.0f, 3.0f}, {nan, nan}}) {
    ProjectedParts parts;
    parts.rows = (Matrix<float>(4, 2) << query, 1, 1, 1, 1, 1, 1, 1).finished();
    parts.tokens = 2;
    parts.parts = 1;
    Matrix<float> terms(2, 2), logits(2, 2);
    const double result = head_terms(parts, 0, terms.data(), logits.data());
    if (std::isnan(residual)) {
      EXPECT_TRUE(std::isnan(result));
    } else {
      EXPECT_EQ(result, residual);
    }
  }
}

TEST(LayerNorm, ConstantRowsWithEpsilonBecomeBeta) {
  const Vector<double> beta = Vector<double>::LinSpaced(4, 1, 4);
  const Normalization<double> norm{Norm::layer_norm, {}, beta, 1e-12};
  const auto result = normalize({Matrix<double>::Constant(2, 4, 3)}, norm);
  EXPECT_LT((result.sum().rowwise() - beta.transpose()).cwiseAbs().maxCoeff(), 1e-15);
}

}  // namespace
}  // namespace superpose
