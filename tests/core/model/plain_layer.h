// Layers whose weights can be read and changed, and the same packed.
#pragma once

#include "model/encoder.h"

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

}  // namespace superpose
