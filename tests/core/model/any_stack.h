// Transformer stacks of random shape, with everything that a layer may have.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "model/transformer_stack.h"
#include "random_shapes.h"

namespace superpose {

// A map of random numbers, packed; with or without a bias.
inline PackedLinear<float> any_map(Shapes& shapes, int out, int in) {
  const Linear<double> drawn = shapes.linear(out, in, shapes.coin());
  return {PackedMatrix<float>(drawn.weight.cast<float>()), drawn.bias.cast<float>()};
}

struct AnyStack {
  TransformerStack stack;
  int d, width, inner;                // of a state, of a head, and of an MLP
  std::vector<Shapes> before_layers;  // the generator before each layer was drawn from it
};

inline Normalization<float> any_norm(Shapes& shapes, int d, bool may_be_none) {
  const int kind = shapes.between(may_be_none ? 0 : 1, 2);
  if (kind == 0) return {};
  Normalization<float> norm{static_cast<Norm>(kind), {}, {}, 0.01};
  if (shapes.coin()) norm.gamma = shapes.vector(d).cast<float>().array() + 1;
  if (kind == 1 && shapes.coin()) norm.beta = shapes.vector(d).cast<float>();
  return norm;
}

// Draws layer `l`, and appends it or sets it again.
inline void set_any_layer(AnyStack& any, Shapes& shapes, int l) {
  const StackOptions& options = any.stack.options();
  const int wide = options.heads * any.width, narrow = options.key_heads * any.width;
  LayerMaps maps;
  maps.query = any_map(shapes, wide, any.d);
  maps.key = any_map(shapes, narrow, any.d);
  maps.value = any_map(shapes, narrow, any.d);
  maps.output = any_map(shapes, any.d, wide);
  maps.up = any_map(shapes, any.inner, any.d);
  maps.down = any_map(shapes, any.d, any.inner);
  if (shapes.coin()) maps.gate = any_map(shapes, any.inner, any.d);
  LayerSettings settings{any_norm(shapes, any.d, true),
                         any_norm(shapes, any.d, true),
                         any_norm(shapes, any.width, true),
                         any_norm(shapes, any.width, true),
                         {}};
  const int pairs = shapes.between(0, any.width / 2);
  for (int m = 0; m < pairs; ++m) settings.frequencies.push_back(1.3 / (1 + m * m));
  any.stack.set_layer(l, std::move(maps), std::move(settings));
}

inline AnyStack any_stack(Shapes& shapes, int count) {
  StackOptions options;
  const int groups = shapes.between(1, 3), width = shapes.between(1, 9), inner = shapes.between(1, 17);
  options.key_heads = shapes.between(1, 3);
  options.heads = options.key_heads * groups;
  const int d = shapes.between(2, 14);
  options.pre_norm = shapes.coin();
  options.causal = shapes.coin();
  options.activation = static_cast<Activation>(shapes.between(0, 3));
  options.embedding_norm = any_norm(shapes, d, true);
  if (options.pre_norm) options.final_norm = any_norm(shapes, d, true);
  AnyStack any{TransformerStack(options), d, width, inner, {}};
  for (int l = 0; l < count; ++l) {
    any.before_layers.push_back(shapes);
    set_any_layer(any, shapes, l);
  }
  return any;
}

// Runs a forward in a single step.
inline Forward forward(const TransformerStack& stack, const Matrix<float>& rows,
                       const ForwardOptions& options) {
  ForwardSteps steps(stack, rows, options);
  EXPECT_TRUE(steps.step(std::numeric_limits<double>::infinity()));
  return std::move(steps.run);
}

inline Forward traced_forward(const TransformerStack& stack, const Matrix<float>& rows) {
  ForwardOptions options;
  options.trace = true;
  return forward(stack, rows, options);
}

}  // namespace superpose
