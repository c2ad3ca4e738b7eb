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

// Of `count` layers, whose number of tokens is about n.
inline AnyEncoder any_encoder(Shapes& shapes, int count, int n) {
  AnyEncoder made;
  EncoderOptions<double>& options = made.options;
  const int groups = shapes.between(1, 3), width = shapes.between(1, 9), inner = shapes.between(1, 17);
  options.key_heads = shapes.between(1, 3);
  options.heads = options.key_heads * groups;
  const int d = made.d = shapes.between(2, 14);
  options.pre_norm = shapes.coin();
  options.parallel = options.pre_norm && shapes.coin();
  options.causal = shapes.coin();
  options.activation = static_cast<Activation>(shapes.between(0, 4));
  options.embedding_norm = any_norm(shapes, d, true);
  if (options.pre_norm) options.final_norm = any_norm(shapes, d, true);
  if (shapes.coin()) options.relative_bias = shapes.matrix(2 * shapes.between(2, 16), options.heads);
  if (shapes.coin()) options.slopes = shapes.vector(options.heads);
  if (shapes.coin()) options.cap = 1.5;
  const bool told_distances = shapes.coin();
  if (told_distances) {
    options.distances = {shapes.matrix(2 * shapes.between(1, 9), d), any_norm(shapes, d, true), 0, 0};
    if (shapes.coin()) {
      options.distances.buckets = 4;
      options.distances.furthest = 9;
    }
  }
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
    for (Linear<double>* one : {&layer.distance_key, &layer.distance_query}) {
      if (told_distances && shapes.coin()) *one = shapes.linear(options.heads * width, d, shapes.coin());
    }
    const int pairs = told_distances ? 0 : shapes.between(0, width / 2);
    for (int m = 0; m < pairs; ++m) layer.rotary.frequencies.push_back(1.3 / (1 + m * m));
    if (shapes.coin()) layer.rotary.gain = 1.2;
    if (shapes.coin()) layer.window = shapes.between(0, n);
    layer.output_norm = any_norm(shapes, d, true);
    layer.down_norm = any_norm(shapes, d, true);
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
          from.parallel,
          from.causal,
          from.activation,
          single_of(from.embedding_norm),
          single_of(from.final_norm),
          single_of(from.projection),
          from.relative_bias.cast<float>(),
          from.slopes.cast<float>(),
          static_cast<float>(from.cap),
          {from.distances.rows.cast<float>(), single_of(from.distances.norm), from.distances.buckets,
           from.distances.furthest}};
}
inline PlainLayer<float> single_of(const PlainLayer<double>& from) {
  return {single_of(from.query),
          single_of(from.key),
          single_of(from.value),
          single_of(from.output),
          single_of(from.attention_norm),
          single_of(from.up),
          single_of(from.down),
          single_of(from.mlp_norm),
          single_of(from.gate),
          single_of(from.query_norm),
          single_of(from.key_norm),
          from.rotary,
          from.window,
          single_of(from.output_norm),
          single_of(from.down_norm),
          single_of(from.distance_key),
          single_of(from.distance_query)};
}

inline Encoder<float> AnyEncoder::single() const {
  Encoder<float> made(single_of(options));
  for (const auto& layer : layers) made.add_layer(packed(single_of(layer)));
  return made;
}

template <typename Scalar>
Forward<Scalar> traced(const Encoder<Scalar>& encoder, const Matrix<double>& rows) {
  ForwardOptions<Scalar> asked;
  asked.scores = asked.trace = true;
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
    case Activation::quick_gelu:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

// T5's bucket: distances below half a direction's buckets have one each, and the others grow geometrically to 128.
inline int bucket(int offset, int buckets) {
  const int half = buckets / 2, exact = half / 2, distance = std::abs(offset);
  const int first = offset > 0 ? half : 0;
  if (distance < exact) return first + distance;
  const double steps = std::log(double(distance) / exact) / std::log(128.0 / exact) * (half - exact);
  return first + std::min(half - 1, exact + static_cast<int>(std::floor(steps + 1e-9)));
}

// The row of a distance i - j: beyond 2 of 4 buckets, r counts as 2 + ceil(ln(r / 2) / ln(8 / 2)).
inline Row distance_row(const DistanceTable<double>& table, int distance) {
  const int k = static_cast<int>(table.rows.rows()) / 2;
  if (table.buckets && std::abs(distance) > 2) {
    const int bucket = std::abs(distance) <= 8 ? 3 : 4;
    distance = distance < 0 ? -bucket : bucket;
  }
  const auto row = table.rows.row(std::min(std::max(distance + k, 0), 2 * k - 1));
  return normed(table.norm, Row(row.begin(), row.end()));
}

// A key's, or a query's, of head h: of a map of the table.
inline Row of_distance(const Linear<double>& map, const DistanceTable<double>& table, int distance, int h,
                       int width) {
  if (!map.weight.size()) return Row(width);
  const Row all = through(map, distance_row(table, distance));
  return Row(all.begin() + h * width, all.begin() + (h + 1) * width);
}

// Lists of heads, normed, and turned unless `turned` is false.
inline Lists heads_of(const Linear<double>& linear, const Normalization<double>& norm, const Rotary& rotary,
                      int heads, const Lists& read, bool interleaved, bool turned = true) {
  Lists all;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const Row row = through(linear, read[i]);
    const std::size_t width = row.size() / heads, pairs = rotary.frequencies.size();
    Row out;
    for (int h = 0; h < heads; ++h) {
      Row head = normed(norm, Row(row.begin() + h * width, row.begin() + (h + 1) * width));
      for (std::size_t m = 0; turned && m < pairs; ++m) {
        double& x = head[interleaved ? 2 * m : m];
        double& y = head[interleaved ? 2 * m + 1 : m + pairs];
        const double angle = static_cast<double>(i) * rotary.frequencies[m];
        const double was = x;
        x = rotary.gain * (was * std::cos(angle) - y * std::sin(angle));
        y = rotary.gain * (was * std::sin(angle) + y * std::cos(angle));
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

// `interleaved` pairs neighbours in place of halves.
inline PlainForward plain_forward(const AnyEncoder& made, const Matrix<double>& rows,
                                  bool interleaved = false) {
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
    const Lists q = heads_of(layer.query, layer.query_norm, layer.rotary, heads, read, interleaved);
    const Lists k = heads_of(layer.key, layer.key_norm, layer.rotary, key_heads, read, interleaved);
    const Lists v = heads_of(layer.value, {}, {}, key_heads, read, interleaved);
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
          const Row key = of_distance(layer.distance_key, options.distances, i - j, h, width);
          const Row query = of_distance(layer.distance_query, options.distances, i - j, h, width);
          for (int c = 0; c < width; ++c) {
            score += q[i][h * width + c] * (k[j][of_key * width + c] + key[c]);
            score += query[c] * k[j][of_key * width + c];
          }
          score /= std::sqrt(double(width));
          if (options.slopes.size()) score += options.slopes[h] * (j - i);
          if (options.relative_bias.size())
            score += options.relative_bias(bucket(j - i, static_cast<int>(options.relative_bias.rows())), h);
          logits(h * n + i, j) = score;
          if ((options.causal && j > i) || std::abs(i - j) > layer.window) continue;
          const double capped = options.cap > 0 ? options.cap * std::tanh(score / options.cap) : score;
          sum += attention(h * n + i, j) = std::exp(capped);
        }
        for (int j = 0; j < n; ++j) attention(h * n + i, j) /= sum;
        for (int c = 0; c < width; ++c) {
          double mixed = 0;
          for (int j = 0; j < n; ++j) mixed += attention(h * n + i, j) * v[j][of_key * width + c];
          context.push_back(mixed);
        }
      }
      wrote.push_back(normed(layer.output_norm, through(layer.output, context)));
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
        out.push_back(normed(layer.down_norm, through(layer.down, wide)));
      }
      return out;
    };
    if (options.parallel) {
      const Lists beside = fed(all_normed(layer.mlp_norm, x));
      added(wrote);
      added(beside);
    } else if (options.pre_norm) {
      added(wrote);
      added(fed(all_normed(layer.mlp_norm, x)));
    } else {
      added(wrote);
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
