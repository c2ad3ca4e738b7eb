#include "scores/scheme_head.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"

namespace superpose {
namespace {

// A scheme of two terms and one head over five tokens; its formula is in schemes_test.cpp.
Scheme<double> two_terms(Shapes& shapes, bool causal) {
  return alibi<double>({shapes.matrix(5, 3), shapes.matrix(5, 3), 1}, 0.7, causal);
}

TEST(SchemeHead, WeightsAreTheSoftmaxOverTheKeysThatAreSeen) {
  Shapes shapes(1);
  for (const bool causal : {false, true}) {
    const SchemeHead head = scheme_head(two_terms(shapes, causal), 0);
    for (int i = 0; i < 5; ++i) {
      const int seen = causal ? i + 1 : 5;
      double sum = 0;
      for (int j = 0; j < seen; ++j) sum += std::exp(head.logits(i, j));
      for (int j = 0; j < 5; ++j)
        EXPECT_NEAR(head.weights(i, j), j < seen ? std::exp(head.logits(i, j)) / sum : 0, 1e-15);
    }
  }
}

// By the definition: each row is centred over the keys that its query sees, and no other pair counts.
TEST(SchemeHead, SharesAreOverTheKeysThatAreSeen) {
  Shapes shapes(2);
  for (const bool causal : {false, true}) {
    const SchemeHead head = scheme_head(two_terms(shapes, causal), 0);
    const auto product = [&](const auto& left, const auto& right) {
      double sum = 0;
      for (int i = 0; i < 5; ++i) {
        const int seen = causal ? i + 1 : 5;
        double l = 0, r = 0;
        for (int j = 0; j < seen; ++j) l += left(i, j) / seen, r += right(i, j) / seen;
        for (int j = 0; j < seen; ++j) sum += (left(i, j) - l) * (right(i, j) - r);
      }
      return sum;
    };
    const double whole = product(head.logits, head.logits);
    double all = 0;
    for (int t = 0; t < 2; ++t) {
      const ConstMatrixMap<double> term(head.terms.row(t).data(), 5, 5);
      EXPECT_NEAR(head.covariances.shares[t], product(term, head.logits) / whole, 1e-13);
      all += head.covariances.shares[t];
    }
    EXPECT_NEAR(all, 1, 1e-13);
    // The terms and logits themselves are of all pairs.
    EXPECT_NEAR(
        (head.terms.row(0) + head.terms.row(1) - Eigen::Map<const Eigen::RowVectorXd>(head.logits.data(), 25))
            .cwiseAbs()
            .maxCoeff(),
        0, 1e-14);
    EXPECT_LT(head.residual, 1e-14);
  }
}

}  // namespace
}  // namespace superpose
