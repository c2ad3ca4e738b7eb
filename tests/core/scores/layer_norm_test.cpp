#include "scores/layer_norm.h"

#include <gtest/gtest.h>

#include "random_shapes.h"

namespace superpose {
namespace {

TEST(LayerNorm, ConstantRowsWithEpsilonBecomeBeta) {
  const Vector<double> beta = Vector<double>::LinSpaced(4, 1, 4);
  const Normalization<double> norm{Norm::layer_norm, {}, beta, 1e-12};
  const auto result = normalize<double>({Matrix<double>::Constant(2, 4, 3)}, norm);
  EXPECT_LT(max_abs(result.whole().rowwise() - beta.transpose()), 1e-15);
}

}  // namespace
}  // namespace superpose
