#include "scores/decomposition.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scores/layer_norm.h"

namespace superpose {
namespace {

// Whole queries that are not the sum of their parts, for the first token alone: as if a term were missing.
TEST(Decomposition, TheResidualIsTheLargestWhereverItStands) {
  const double nan = std::nan("");
  for (const auto& [whole, residual] : {std::pair{5.0, 4.0}, {1.0, 0.0}, {-2.0, 3.0}, {nan, nan}}) {
    ProjectedParts parts;
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

TEST(LayerNorm, ConstantRowsWithEpsilonBecomeBeta) {
  const Vector<double> beta = Vector<double>::LinSpaced(4, 1, 4);
  const Normalization<double> norm{Norm::layer_norm, {}, beta, 1e-12};
  const auto result = normalize({Matrix<double>::Constant(2, 4, 3)}, norm);
  EXPECT_LT((result.whole().rowwise() - beta.transpose()).cwiseAbs().maxCoeff(), 1e-15);
}

// Room is made in place: every term goes on before another takes where it stood.
TEST(Decomposition, OnePartMoreLeavesTermsWhereTheirPartsAre) {
  for (const int parts : {1, 2, 3, 5}) {
    for (const int n : {0, 1, 3}) {
      const int all = parts + 1, size = n * n;
      std::vector<double> terms(all * all * size, -1);
      for (int k = 0; k < parts * parts * size; ++k) terms[k] = k + 1;
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
