#include "scores/order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "random_shapes.h"

namespace superpose {
namespace {

AttentionLayer random_layer(Shapes& shapes, int d, int heads, int width, int value_width) {
  return {shapes.linear(heads * width, d, true), shapes.linear(heads * width, d, true),
          shapes.linear(heads * value_width, d, true), shapes.linear(d, heads * value_width, true), heads};
}

// A permutation of 0 .. n - 1 that moves only the first `moved`.
std::vector<int> permutation_of(Shapes& shapes, int n, int moved) {
  std::vector<int> permutation(n);
  std::iota(permutation.begin(), permutation.end(), 0);
  for (int i = moved - 1; i > 0; --i) std::swap(permutation[i], permutation[shapes.between(0, i)]);
  if (moved > 1 && permutation[0] == 0) std::swap(permutation[0], permutation[moved - 1]);
  return permutation;
}

TEST(Order, LayerIsTheFormula) {
  Shapes shapes(1);
  for (bool causal : {false, true}) {
    const int n = 5, d = 6, heads = 2, width = 3, value_width = 4;
    const AttentionLayer layer = random_layer(shapes, d, heads, width, value_width);
    const Matrix<double> x = shapes.matrix(n, d);
    const Matrix<double> found = attention_layer(x, layer, causal);
    const auto project = [](const Linear<double>& linear, const auto& row) {
      Vector<double> out = linear.bias;
      for (int k = 0; k < out.size(); ++k) {
        for (int c = 0; c < linear.weight.cols(); ++c) out[k] += linear.weight(k, c) * row[c];
      }
      return out;
    };
    for (int i = 0; i < n; ++i) {
      Vector<double> mixed = Vector<double>::Zero(heads * value_width);
      for (int h = 0; h < heads; ++h) {
        double total = 0;
        for (int j = 0; j < (causal ? i + 1 : n); ++j) {
          const Vector<double> q = project(layer.query, x.row(i)), k = project(layer.key, x.row(j)),
                               v = project(layer.value, x.row(j));
          double logit = 0;
          for (int c = 0; c < width; ++c) logit += q[h * width + c] * k[h * width + c];
          const double weight = std::exp(logit / std::sqrt(3.0));
          total += weight;
          for (int c = 0; c < value_width; ++c) {
            mixed[h * value_width + c] += weight * v[h * value_width + c];
          }
        }
        for (int c = 0; c < value_width; ++c) mixed[h * value_width + c] /= total;
      }
      const Vector<double> expected = x.row(i).transpose() + project(layer.output, mixed);
      EXPECT_LT((found.row(i).transpose() - expected).cwiseAbs().maxCoeff(), 1e-14);
    }
  }
}

TEST(Order, BidirectionalAttentionOnlyRelabels) {
  Shapes shapes(2);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = shapes.between(2, 12), heads = shapes.between(1, 3), d = shapes.between(2, 12);
    const Matrix<double> x = shapes.matrix(n, d);
    std::vector<AttentionLayer> layers;
    for (int depth = 1; depth <= 2; ++depth) {
      layers.push_back(random_layer(shapes, d, heads, shapes.between(1, 5), shapes.between(1, 5)));
      const auto effect = permutation_effect(x, layers, false, permutation_of(shapes, n, n));
      EXPECT_LE(effect.equivariance, 1e-14 * std::max(1.0, max_abs(effect.output)));
      EXPECT_GT(max_abs(effect.permuted - effect.output), 1e-3);
    }
  }
}

// The last token of one causal layer attends to a set; of two, to outputs that know the order.
TEST(Order, CausalAttentionKnowsOrderFromTheSecondLayerOn) {
  Shapes shapes(3);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = shapes.between(4, 12), d = shapes.between(4, 12);
    const Matrix<double> x = shapes.matrix(n, d);
    std::vector<AttentionLayer> layers{random_layer(shapes, d, 2, 4, 4)};
    const auto permutation = permutation_of(shapes, n, n - 1);
    const auto one = permutation_effect(x, layers, true, permutation);
    EXPECT_LE(one.last, 1e-14 * std::max(1.0, max_abs(one.output)));
    EXPECT_GT(one.equivariance, 1e-3);
    layers.push_back(random_layer(shapes, d, 2, 4, 4));
    EXPECT_GT(permutation_effect(x, layers, true, permutation).last, 1e-3);
  }
}

// Proportions, not counts: a prefix repeated twice gives the same as once.
TEST(Order, OneCausalLayerSeesProportionsOfItsPrefix) {
  Shapes shapes(4);
  const AttentionLayer layer = random_layer(shapes, 6, 2, 3, 3);
  const Matrix<double> x = shapes.matrix(4, 6);
  Matrix<double> twice(8, 6);
  twice << x, x;
  const Matrix<double> once = attention_layer(x, layer, true);
  EXPECT_LT(max_abs(attention_layer(twice, layer, true).row(7) - once.row(3)), 1e-14);
}

TEST(Order, NothingToPermute) {
  Shapes shapes(5);
  const std::vector<AttentionLayer> layers{random_layer(shapes, 4, 1, 2, 2)};
  const auto none = permutation_effect(Matrix<double>(0, 4), layers, true, {});
  EXPECT_EQ(none.output.rows(), 0);
  EXPECT_EQ(none.last, 0);
  const Matrix<double> x = shapes.matrix(1, 4);
  const auto one = permutation_effect(x, layers, true, {0});
  EXPECT_EQ(one.equivariance, 0);
  EXPECT_EQ(one.last, 0);
  const auto no_layers = permutation_effect(x, {}, true, {0});
  EXPECT_EQ(no_layers.output, x);
}

}  // namespace
}  // namespace superpose
