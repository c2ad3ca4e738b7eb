// Encoders of random shape with all that a layer may have, and the same forward in plain loops over single numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "plain_layer.h"
#include "random_shapes.h"

namespace superpose {

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
  Encoder<float> single() const;
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

inline Linear<float> single_of(const Linear<double>& from) {
  return {from.weight.cast<float>(), from.bias.cast<float>()};
}
inline Normalization<float> single_of(const Normalization<double>& from) {
  return {from.kind, from.gamma.cast<float>(), from.beta.cast<float>(), static_cast<float>(from.epsilon)};
}
inline EncoderOptions<float> single_of(const EncoderOptions<double>& from) {
  return {from.heads,
          from.key_heads,
          from.pre_norm,
          from.causal,
          from.activation,
          single_of(from.embedding_norm),
          single_of(from.final_norm)};
}
inline PlainLayer<float> single_of(const PlainLayer<double>& from) {
  return {single_of(from.query),          single_of(from.key),
          single_of(from.value),          single_of(from.output),
          single_of(from.attention_norm), single_of(from.up),
          single_of(from.down),           single_of(from.mlp_norm),
          single_of(from.gate),           single_of(from.query_norm),
          single_of(from.key_norm),       from.frequencies};
}

inline Encoder<float> AnyEncoder::single() const {
  Encoder<float> made(single_of(options));
  for (const auto& layer : layers) made.add_layer(packed(single_of(layer)));
  return made;
}

template <typename Scalar>
Forward<Scalar> traced(const Encoder<Scalar>& encoder, const Matrix<double>& rows) {
  ForwardOptions<Scalar> asked;
  asked.trace = true;
  return encoder.forward(rows.cast<Scalar>(), asked);
}

// The forward once more, from the definitions: nothing of src/core is called.
struct PlainForward {
  std::vector<Matrix<double>> states, logits, attention;
  Matrix<double> last;
};

namespace plain {

using Row = std::vector<double>;
using Lists = std::vector<Row>;

inline Row through(const Linear<double>& linear, const Row& x) {
  Row y(linear.weight.rows());
  for (std::size_t o = 0; o < y.size(); ++o) {
    y[o] = linear.bias.size() ? linear.bias[o] : 0;
    for (std::size_t c = 0; c < x.size(); ++c) y[o] += linear.weight(o, c) * x[c];
  }
  return y;
}

inline Row normed(const Normalization<double>& norm, Row x) {
  if (norm.kind == Norm::none) return x;
  const double size = static_cast<double>(x.size());
  const double mean = norm.kind == Norm::layer_norm ? std::accumulate(x.begin(), x.end(), 0.0) / size : 0;
  double squares = 0;
  for (const double one : x) squares += (one - mean) * (one - mean);
  for (std::size_t c = 0; c < x.size(); ++c) {
    x[c] = (x[c] - mean) / std::sqrt(squares / size + norm.epsilon);
    if (norm.gamma.size()) x[c] *= norm.gamma[c];
    if (norm.beta.size()) x[c] += norm.beta[c];
  }
  return x;
}

inline double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::gelu:
      return x * std::erfc(-x / std::sqrt(2)) / 2;
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

// Lists of heads, normed, and turned unless `turned` is false.
inline Lists heads_of(const Linear<double>& linear, const Normalization<double>& norm,
                      const std::vector<double>& frequencies, int heads, const Lists& read,
                      bool turned = true) {
  Lists all;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const Row row = through(linear, read[i]);
    const std::size_t width = row.size() / heads, pairs = frequencies.size();
    Row out;
    for (int h = 0; h < heads; ++h) {
      Row head = normed(norm, Row(row.begin() + h * width, row.begin() + (h + 1) * width));
      for (std::size_t m = 0; turned && m < pairs; ++m) {
        double& x = head[m];
        double& y = head[m + pairs];
        const double angle = static_cast<double>(i) * frequencies[m];
        const double was = x;
        x = was * std::cos(angle) - y * std::sin(angle);
        y = was * std::sin(angle) + y * std::cos(angle);
      }
      out.insert(out.end(), head.begin(), head.end());
    }
    all.push_back(out);
  }
  return all;
}

inline Matrix<double> matrix(const Lists& rows) {
  Matrix<double> found(rows.size(), rows[0].size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < rows[i].size(); ++c) found(i, c) = rows[i][c];
  }
  return found;
}

}  // namespace plain

inline PlainForward plain_forward(const AnyEncoder& made, const Matrix<double>& rows) {
  using namespace plain;
  const EncoderOptions<double>& options = made.options;
  const int n = static_cast<int>(rows.rows()), heads = options.heads, key_heads = made.key_heads();
  PlainForward run;
  Lists x;
  for (int i = 0; i < n; ++i)
    x.push_back(normed(options.embedding_norm,
                       Row(rows.data() + i * rows.cols(), rows.data() + (i + 1) * rows.cols())));
  run.states.push_back(matrix(x));
  for (const auto& layer : made.layers) {
    const auto all_normed = [&](const Normalization<double>& norm, Lists of) {
      for (Row& row : of) row = normed(norm, row);
      return of;
    };
    const Lists read = options.pre_norm ? all_normed(layer.attention_norm, x) : x;
    const Lists q = heads_of(layer.query, layer.query_norm, layer.frequencies, heads, read);
    const Lists k = heads_of(layer.key, layer.key_norm, layer.frequencies, key_heads, read);
    const Lists v = heads_of(layer.value, {}, {}, key_heads, read);
    const int width = static_cast<int>(q[0].size()) / heads;
    Matrix<double> logits(heads * n, n), attention = Matrix<double>::Zero(heads * n, n);
    Lists wrote;
    for (int i = 0; i < n; ++i) {
      Row context;
      for (int h = 0; h < heads; ++h) {
        const int of_key = h / (heads / key_heads);
        double sum = 0;
        for (int j = 0; j < n; ++j) {
          double score = 0;
          for (int c = 0; c < width; ++c) score += q[i][h * width + c] * k[j][of_key * width + c];
          score /= std::sqrt(double(width));
          logits(h * n + i, j) = score;
          if (options.causal && j > i) continue;
          sum += attention(h * n + i, j) = std::exp(score);
        }
        for (int j = 0; j < n; ++j) attention(h * n + i, j) /= sum;
        for (int c = 0; c < width; ++c) {
          double mixed = 0;
          for (int j = 0; j < n; ++j) mixed += attention(h * n + i, j) * v[j][of_key * width + c];
          context.push_back(mixed);
        }
      }
      wrote.push_back(through(layer.output, context));
    }
    const auto added = [&](const Lists& what) {
      for (int i = 0; i < n; ++i) {
        for (int c = 0; c < made.d; ++c) x[i][c] += what[i][c];
      }
    };
    const auto fed = [&](const Lists& of) {
      Lists out;
      for (const Row& row : of) {
        Row wide = through(layer.up, row);
        if (layer.gate.weight.size()) {
          const Row gate = through(layer.gate, row);
          for (std::size_t c = 0; c < wide.size(); ++c) wide[c] *= activated(options.activation, gate[c]);
        } else {
          for (double& one : wide) one = activated(options.activation, one);
        }
        out.push_back(through(layer.down, wide));
      }
      return out;
    };
    added(wrote);
    if (options.pre_norm) {
      added(fed(all_normed(layer.mlp_norm, x)));
    } else {
      x = all_normed(layer.attention_norm, x);
      added(fed(x));
      x = all_normed(layer.mlp_norm, x);
    }
    run.logits.push_back(logits);
    run.attention.push_back(attention);
    run.states.push_back(matrix(x));
  }
  for (Row& row : x) row = normed(options.final_norm, row);
  run.last = matrix(x);
  return run;
}

}  // namespace superpose
