#include "model/encoder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "encodings/relative_position.h"
#include "encodings/rotary.h"
#include "model/row_norm.h"
#include "numeric/in_place.h"
#include "scores/softmax.h"

namespace superpose {

using Eigen::Index;

namespace {

template <typename Scalar>
Matrix<Scalar> product(const Matrix<Scalar>& rows, const PackedStack<Scalar>& packed, Index width) {
  Matrix<Scalar> out(rows.rows(), width);
  multiply_packed<Scalar>(rows, packed, 0, 1, 1, rows.rows(), out.data());
  return out;
}

template <typename Scalar>
Matrix<Scalar> linear(const Matrix<Scalar>& rows, const PackedStack<Scalar>& packed,
                      const Vector<Scalar>& bias) {
  Matrix<Scalar> out = product(rows, packed, bias.size());
  add_rows<Scalar>({}, bias, out);
  return out;
}

// One head's columns of some rows.
template <typename Scalar>
Block<Scalar> columns_of(Scalar* data, Index stride, Index head, Index width) {
  return {data + head * width, stride};
}

template <typename Scalar>
void subtract(const Matrix<Scalar>& from, Matrix<Scalar>& x) {
  for (Index at = 0; at < x.size(); ++at) x.data()[at] -= from.data()[at];
}

// Writes the mean row of the attended tokens, scaled to length one, to out [d].
template <typename Scalar>
void pooled_embedding(const Matrix<Scalar>& rows, const std::vector<char>& attended, Scalar* out) {
  std::vector<double> sum(rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index c = 0; (attended.empty() || attended[i]) && c < rows.cols(); ++c) sum[c] += rows(i, c);
  }
  double squares = 0;
  for (const double one : sum) squares += one * one;
  for (Index c = 0; c < rows.cols(); ++c) out[c] = static_cast<Scalar>(sum[c] / std::sqrt(squares));
}

template <typename Scalar>
bool is_zero(const Matrix<Scalar>& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](Scalar one) { return one == 0; });
}

template <typename Scalar>
Vector<Scalar> bias_or_zeros(const Linear<Scalar>& linear) {
  if (linear.bias.size()) return linear.bias;
  return Vector<Scalar>::Zero(linear.weight.rows());
}

}  // namespace

template <typename Scalar>
Encoder<Scalar>::Encoder(EncoderOptions<Scalar> options) : options_(std::move(options)) {
  if (options_.key_heads == 0) options_.key_heads = options_.heads;
  const Linear<Scalar>& projection = options_.projection;
  if (projection.weight.size()) projection_.pack(projection.weight, projection.weight.rows());
  Vector<Scalar> sigma;
  normalize_rows(options_.distances.norm, options_.distances.rows, sigma);
}

template <typename Scalar>
void Encoder<Scalar>::add_layer(EncoderLayer<Scalar> layer) {
  Packed packed;
  packed.value_bias = bias_or_zeros(layer.value);
  const Matrix<Scalar> of_values = packed.value_bias.transpose();
  const Matrix<Scalar> moved = of_query_heads(of_values, options_.key_heads, options_.heads);
  packed.moved_bias.resize(layer.output.weight.rows());
  multiply_rows<Scalar>(moved, layer.output.weight, 1,
                        MatrixMap<Scalar>(packed.moved_bias.data(), 1, packed.moved_bias.size()));
  // Each map is let go once it is packed, so that a large layer is not in memory twice.
  const auto pack = [](Linear<Scalar>& from, PackedStack<Scalar>& weight, Vector<Scalar>& bias) {
    bias = bias_or_zeros(from);
    const Matrix<Scalar> taken = std::move(from.weight);
    weight.pack(taken, taken.rows());
  };
  packed.gated = layer.gate.weight.size() > 0;
  pack(layer.query, packed.query, packed.query_bias);
  pack(layer.key, packed.key, packed.key_bias);
  pack(layer.value, packed.value, packed.value_bias);
  pack(layer.output, packed.output, packed.output_bias);
  pack(layer.up, packed.up, packed.up_bias);
  pack(layer.down, packed.down, packed.down_bias);
  if (packed.gated) pack(layer.gate, packed.gate, packed.gate_bias);
  packed.attention_constant = packed.moved_bias + packed.output_bias;
  packed.attention_norm = std::move(layer.attention_norm);
  packed.query_norm = std::move(layer.query_norm);
  packed.key_norm = std::move(layer.key_norm);
  packed.mlp_norm = std::move(layer.mlp_norm);
  packed.output_norm = std::move(layer.output_norm);
  packed.down_norm = std::move(layer.down_norm);
  const auto of_distances = [&](const Linear<Scalar>& map) {
    if (!map.weight.size()) return Matrix<Scalar>();
    PackedStack<Scalar> weight;
    weight.pack(map.weight, map.weight.rows());
    return linear(options_.distances.rows, weight, bias_or_zeros(map));
  };
  packed.distance_keys = of_distances(layer.distance_key);
  packed.distance_queries = of_distances(layer.distance_query);
  packed.rotary = std::move(layer.rotary);
  packed.window = layer.window;
  layers_.push_back(std::move(packed));
}

template <typename Scalar>
Projections<Scalar> Encoder<Scalar>::projections(const Packed& layer, const Matrix<Scalar>& read) const {
  Projections<Scalar> both{linear(read, layer.query, layer.query_bias),
                           linear(read, layer.key, layer.key_bias)};
  normalize_heads(layer.query_norm, options_.heads, read.rows(), both.queries);
  normalize_heads(layer.key_norm, options_.key_heads, read.rows(), both.keys);
  return both;
}

template <typename Scalar>
Projections<Scalar> Encoder<Scalar>::projections(int layer, const Matrix<Scalar>& input) const {
  return projections(layers_[layer], input);
}

template <typename Scalar>
Projections<Scalar> Encoder<Scalar>::turned(int layer, const Matrix<Scalar>& input) const {
  Projections<Scalar> both = projections(layer, input);
  turn_heads(layers_[layer].rotary, input.rows(), both);
  return both;
}

template <typename Scalar>
void Encoder<Scalar>::turn_heads(const Rotary& rotary, Index n, Projections<Scalar>& both) const {
  Turning turning{rotary.frequencies, Layout::concatenated, options_.heads, rotary.gain};
  turn(turning, n, both.queries);
  turning.heads = options_.key_heads;
  turn(turning, n, both.keys);
}

template <typename Scalar>
Projections<Scalar> Encoder<Scalar>::of_offsets(const Packed& layer, Index n) const {
  const DistanceTable<Scalar>& table = options_.distances;
  const auto looked_up = [&](const Matrix<Scalar>& rows) {
    Matrix<Scalar> found(rows.size() ? 2 * n - 1 : 0, rows.cols());
    const int k = static_cast<int>(rows.rows() / 2);
    for (Index row = 0; row < found.rows(); ++row) {
      const int at = deberta_row(static_cast<int>(n - 1 - row), k, table.buckets, table.furthest);
      std::copy_n(rows.data() + at * rows.cols(), rows.cols(), found.data() + row * rows.cols());
    }
    return found;
  };
  return {looked_up(layer.distance_queries), looked_up(layer.distance_keys)};
}

// What attention writes, without b_O, with queries and keys from `read` and values from `values_of`. Its
// weights are the softmax of their scores unless others are given.
template <typename Scalar>
void Encoder<Scalar>::attend(const Packed& layer, const Matrix<Scalar>& read, const Matrix<Scalar>& values_of,
                             const Matrix<Scalar>& given, const Matrix<Scalar>& bias,
                             const ForwardOptions<Scalar>& asked, Forward<Scalar>& run,
                             Matrix<Scalar>& out) const {
  const int heads = options_.heads;
  const Index n = read.rows(), width = layer.query_bias.size() / heads;
  const Index all = heads * width, of_keys = options_.key_heads * width;
  Projections<Scalar> both = projections(layer, read);
  Matrix<Scalar> value = linear(values_of, layer.value, layer.value_bias);
  if (asked.projections) run.projections.push_back(both);
  turn_heads(layer.rotary, n, both);
  const Scalar scale = 1 / std::sqrt(static_cast<Scalar>(width));
  both.queries *= scale;
  const Projections<Scalar> offsets = of_offsets(layer, n);

  Matrix<Scalar> keys(of_keys, n), scores(n, n), context(n, all);
  transpose<Scalar>({both.keys.data(), of_keys}, n, of_keys, {keys.data(), n});
  if (asked.scores) {
    run.logits.emplace_back(heads * n, n);
    run.attention.emplace_back(heads * n, n);
  }
  for (int h = 0; h < heads; ++h) {
    const int of_key = key_head(h, options_.key_heads, heads);
    multiply<Scalar>(columns_of<const Scalar>(both.queries.data(), all, h, width),
                     {keys.data() + of_key * width * n, n}, {n, width, n}, {scores.data(), n});
    add_offset_bias<Scalar>(bias, h, scores.data(), nullptr);
    const auto add_offsets = [&](const Matrix<Scalar>& rows, int head, const Matrix<Scalar>& table,
                                 bool of_keys) {
      if (!table.size()) return;
      add_offset_products<Scalar>(rows.middleCols(head * width, width), table.middleCols(h * width, width),
                                  of_keys, of_keys ? scale : Scalar(1), scores.data());
    };
    add_offsets(both.queries, h, offsets.keys, false);
    add_offsets(both.keys, of_key, offsets.queries, true);
    if (asked.scores) std::copy_n(scores.data(), n * n, run.logits.back().data() + h * n * n);
    soft_cap(options_.cap, scores);
    mask(options_.causal, layer.window, asked.attended, scores);
    softmax<Scalar>({scores.data(), n}, n, n);
    if (given.size()) std::copy_n(given.data() + h * n * n, n * n, scores.data());
    if (asked.scores) std::copy_n(scores.data(), n * n, run.attention.back().data() + h * n * n);
    multiply<Scalar>({scores.data(), n}, columns_of<const Scalar>(value.data(), of_keys, of_key, width),
                     {n, n, width}, columns_of(context.data(), all, h, width));
  }
  out = product(context, layer.output, layer.output_bias.size());
  if (!asked.trace) return;
  run.values.push_back(std::move(value));
  run.contexts.push_back(std::move(context));
  run.attended.push_back(out);
}

template <typename Scalar>
Matrix<Scalar> Encoder<Scalar>::fed_forward(const Packed& layer, const Matrix<Scalar>& x) const {
  Matrix<Scalar> wide = product(x, layer.up, layer.up_bias.size());
  if (layer.gated) {
    Matrix<Scalar> gate = product(x, layer.gate, layer.gate_bias.size());
    activate_gated(options_.activation, layer.gate_bias, gate, layer.up_bias, wide);
  } else {
    activate(options_.activation, layer.up_bias, wide);
  }
  return product(wide, layer.down, x.cols());
}

template <typename Scalar>
Matrix<Scalar> Encoder<Scalar>::projected(const Matrix<Scalar>& rows) const {
  const Matrix<Scalar>& weight = options_.projection.weight;
  return weight.size() ? product(rows, projection_, weight.rows()) : rows;
}

template <typename Scalar>
Forward<Scalar> Encoder<Scalar>::forward(const Matrix<Scalar>& embeddings,
                                         const ForwardOptions<Scalar>& asked) const {
  const int most = asked.layers < 0 ? layers() : std::min(asked.layers, layers());
  const bool pre = options_.pre_norm;
  Forward<Scalar> run;
  Matrix<Scalar> x = embeddings;
  normalize_rows(options_.embedding_norm, x, run.embedding_sigma);
  if (options_.projection.weight.size()) {
    x = projected(x);
    add_rows<Scalar>({}, options_.projection.bias, x);
  }
  if (asked.withheld.size()) subtract(asked.withheld, x);
  run.states.push_back(x);
  const Matrix<Scalar> bias = score_bias(x.rows());
  Vector<Scalar> sigma;
  Matrix<Scalar> normed, wrote;
  const auto add_written = [&](const Vector<Scalar>& bias, const Normalization<Scalar>& norm,
                               std::vector<Vector<Scalar>>& sigmas) {
    Vector<Scalar> own;
    if (norm.kind == Norm::none) {
      add_rows(wrote, bias, x);
    } else {
      add_rows<Scalar>({}, bias, wrote);
      normalize_rows(norm, wrote, own);
      add_rows<Scalar>(wrote, {}, x);
    }
    if (asked.trace) sigmas.push_back(std::move(own));
  };
  for (int l = 0; l < most; ++l) {
    const Packed& layer = layers_[l];
    if (pre) {
      normed = x;
      normalize_rows(layer.attention_norm, normed, sigma);
      if (asked.trace) run.attention_sigma.push_back(sigma);
    }
    const Matrix<Scalar>& input = pre ? normed : x;
    if (asked.trace) run.inputs.push_back(input);
    const auto of_layer = [l](const std::vector<Matrix<Scalar>>& all) -> const Matrix<Scalar>& {
      static const Matrix<Scalar> none;
      return l < static_cast<int>(all.size()) ? all[l] : none;
    };
    const Matrix<Scalar>& unread = of_layer(asked.unread);
    const Matrix<Scalar>& uncarried = of_layer(asked.uncarried);
    Matrix<Scalar> read, carried;
    if (unread.size()) subtract(unread, read = input);
    if (uncarried.size()) subtract(uncarried, carried = input);
    attend(layer, unread.size() ? read : input, uncarried.size() ? carried : input, of_layer(asked.attention),
           bias, asked, run, wrote);
    // Beside attention, the MLP reads what attention has not yet written to.
    if (options_.parallel) normed = x;
    add_written(layer.output_bias, layer.output_norm, run.output_sigma);
    if (pre) {
      if (!options_.parallel) normed = x;
      normalize_rows(layer.mlp_norm, normed, sigma);
    } else {
      normalize_rows(layer.attention_norm, x, sigma);
      if (asked.trace) run.attention_sigma.push_back(sigma);
    }
    wrote = fed_forward(layer, pre ? normed : x);
    if (asked.trace) run.written.push_back(wrote);
    add_written(layer.down_bias, layer.down_norm, run.down_sigma);
    if (!pre) normalize_rows(layer.mlp_norm, x, sigma);
    if (asked.trace) run.mlp_sigma.push_back(sigma);
    run.states.push_back(x);
  }
  run.last = x;
  if (most == layers()) normalize_rows(options_.final_norm, run.last, sigma);
  run.pooled.resize(most + 1, x.cols());
  for (int l = 0; l <= most; ++l) {
    pooled_embedding(l == most ? run.last : run.states[l], asked.attended,
                     run.pooled.data() + l * run.pooled.cols());
  }
  return run;
}

template <typename Scalar>
ProjectedParts<Scalar> Encoder<Scalar>::queries_and_keys(int l, const Matrix<Scalar>& input,
                                                         const std::vector<Matrix<Scalar>>& parts) const {
  const Packed& layer = layers_[l];
  const Index n = input.rows(), d = input.cols(), count = static_cast<Index>(parts.size());
  Matrix<Scalar> stack((1 + count) * n, d);
  Scalar* to = std::copy_n(input.data(), n * d, stack.data());
  for (Index p = 0; p < count; ++p) to = std::copy_n(parts[p].data(), n * d, to);
  const auto project = [&](const PackedStack<Scalar>& weight, const Vector<Scalar>& bias) {
    Matrix<Scalar> found = product(stack, weight, bias.size());
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < bias.size(); ++c) {
        found(i, c) += bias[c];
        found(count * n + i, c) += bias[c];
      }
    }
    return found;
  };
  Projections<Scalar> both{project(layer.query, layer.query_bias), project(layer.key, layer.key_bias)};
  normalize_heads(layer.query_norm, options_.heads, n, both.queries);
  normalize_heads(layer.key_norm, options_.key_heads, n, both.keys);
  turn_heads(layer.rotary, n, both);
  ProjectedParts<Scalar> result;
  result.queries = std::move(both.queries);
  result.keys = of_query_heads(both.keys, options_.key_heads, options_.heads);
  result.tokens = n;
  result.parts = static_cast<int>(count);
  result.heads = options_.heads;
  result.scale = 1 / std::sqrt(static_cast<Scalar>(result.head_width()));
  return result;
}

template <typename Scalar>
Matrix<Scalar> Encoder<Scalar>::mixed(int l, const Matrix<Scalar>& attention, const Matrix<Scalar>& x) const {
  const Packed& layer = layers_[l];
  const int heads = options_.heads, key_heads = options_.key_heads;
  const Index n = x.rows(), of_values = layer.value_bias.size(), width = of_values / key_heads;
  if (is_zero(x)) return Matrix<Scalar>::Zero(n, heads * width);
  const Matrix<Scalar> values = product(x, layer.value, of_values);
  Matrix<Scalar> context(n, heads * width);
  for (int h = 0; h < heads; ++h) {
    multiply<Scalar>({attention.data() + h * n * n, n},
                     columns_of<const Scalar>(values.data(), of_values, key_head(h, key_heads, heads), width),
                     {n, n, width}, columns_of(context.data(), heads * width, h, width));
  }
  return context;
}

template <typename Scalar>
Matrix<Scalar> Encoder<Scalar>::moved(int l, const Matrix<Scalar>& attention, const Matrix<Scalar>& x) const {
  const Matrix<Scalar> context = mixed(l, attention, x);
  if (is_zero(context)) return Matrix<Scalar>::Zero(x.rows(), x.cols());
  return product(context, layers_[l].output, x.cols());
}

template class Encoder<float>;
template class Encoder<double>;

}  // namespace superpose
