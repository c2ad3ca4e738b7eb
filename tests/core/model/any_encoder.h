// Encoders of random shape with all that a layer may have, whose weights can be read.
#pragma once

#include <vector>

#include "model/encoder.h"
#include "random_shapes.h"

namespace superpose {

template <typename Scalar>
using PlainLayer = EncoderLayer<Scalar, Linear<Scalar>>;

template <typename Scalar>
EncoderLayer<Scalar> packed(const PlainLayer<Scalar>& layer) {
  const auto map = [](const Linear<Scalar>& from) {
    if (!from.weight.size()) return PackedLinear<Scalar>{};
    return PackedLinear<Scalar>{PackedMatrix<Scalar>(from.weight), from.bias};
  };
  return {map(layer.query),     map(layer.key),   map(layer.value), map(layer.output),
          layer.attention_norm, map(layer.up),    map(layer.down),  layer.mlp_norm,
          map(layer.gate),      layer.query_norm, layer.key_norm,   layer.frequencies};
}

struct AnyEncoder {
  EncoderOptions<double> options;
  std::vector<PlainLayer<double>> layers;
  int d = 1;

  int key_heads() const { return options.key_heads ? options.key_heads : options.heads; }
  int width() const { return static_cast<int>(layers[0].query.weight.rows()) / options.heads; }

  Encoder<double> encoder() const {
    Encoder<double> made(options);
    for (const auto& layer : layers) made.add_layer(packed(layer));
    return made;
  }
};

inline Normalization<double> any_norm(Shapes& shapes, int d, bool may_be_none) {
  const int kind = shapes.between(may_be_none ? 0 : 1, 2);
  if (kind == 0) return {};
  Normalization<double> norm{static_cast<Norm>(kind), {}, {}, 0.01};
  if (shapes.coin()) norm.gamma = shapes.vector(d).array() + 1;
  if (kind == 1 && shapes.coin()) norm.beta = shapes.vector(d);
  return norm;
}

inline AnyEncoder any_encoder(Shapes& shapes, int count) {
  AnyEncoder made;
  EncoderOptions<double>& options = made.options;
  const int groups = shapes.between(1, 3), width = shapes.between(1, 9), inner = shapes.between(1, 17);
  options.key_heads = shapes.between(1, 3);
  options.heads = options.key_heads * groups;
  const int d = made.d = shapes.between(2, 14);
  options.pre_norm = shapes.coin();
  options.causal = shapes.coin();
  options.activation = static_cast<Activation>(shapes.between(0, 3));
  options.embedding_norm = any_norm(shapes, d, true);
  if (options.pre_norm) options.final_norm = any_norm(shapes, d, true);
  for (int l = 0; l < count; ++l) {
    PlainLayer<double> layer;
    layer.query = shapes.linear(options.heads * width, d, shapes.coin());
    layer.key = shapes.linear(options.key_heads * width, d, shapes.coin());
    layer.value = shapes.linear(options.key_heads * width, d, shapes.coin());
    layer.output = shapes.linear(d, options.heads * width, shapes.coin());
    layer.attention_norm = any_norm(shapes, d, true);
    layer.up = shapes.linear(inner, d, shapes.coin());
    layer.down = shapes.linear(d, inner, shapes.coin());
    layer.mlp_norm = any_norm(shapes, d, true);
    if (shapes.coin()) layer.gate = shapes.linear(inner, d, shapes.coin());
    layer.query_norm = any_norm(shapes, width, true);
    layer.key_norm = any_norm(shapes, width, true);
    const int pairs = shapes.between(0, width / 2);
    for (int m = 0; m < pairs; ++m) layer.frequencies.push_back(1.3 / (1 + m * m));
    made.layers.push_back(std::move(layer));
  }
  return made;
}

template <typename Scalar>
Forward<Scalar> traced(const Encoder<Scalar>& encoder, const Matrix<double>& rows) {
  ForwardOptions<Scalar> asked;
  asked.trace = true;
  return encoder.forward(rows.cast<Scalar>(), asked);
}

}  // namespace superpose
