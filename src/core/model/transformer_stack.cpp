#include "model/transformer_stack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "encodings/rotary.h"
#include "model/add_rows.h"
#include "numeric/in_place.h"
#include "scores/softmax.h"

namespace superpose {

using Eigen::Index;

namespace {

Matrix<float> product(const Matrix<float>& rows, const PackedMatrix<float>& by) {
  Matrix<float> out(rows.rows(), by.rows());
  multiply_packed<float>(rows, by, 0, by.pieces(rows.rows()), out.data());
  return out;
}

// One head's columns of some rows.
template <typename Scalar>
Block<Scalar> columns_of(Scalar* data, Index stride, Index head, Index width) {
  return {data + head * width, stride};
}

// Writes the mean row, scaled to length one, to out [d].
void pooled_embedding(const Matrix<float>& rows, float* out) {
  std::vector<double> sum(rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index c = 0; c < rows.cols(); ++c) sum[c] += rows(i, c);
  }
  double squares = 0;
  for (const double one : sum) squares += one * one;
  for (Index c = 0; c < rows.cols(); ++c) out[c] = static_cast<float>(sum[c] / std::sqrt(squares));
}

bool is_zero(const Matrix<float>& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](float one) { return one == 0; });
}

}  // namespace

TransformerStack::TransformerStack(StackOptions options) : options_(std::move(options)) {
  if (options_.key_heads == 0) options_.key_heads = options_.heads;
}

void TransformerStack::add_layer(LayerMaps&& maps, LayerSettings&& settings) {
  for (PackedLinear<float>* map :
       {&maps.query, &maps.key, &maps.value, &maps.output, &maps.up, &maps.gate, &maps.down}) {
    if (!map->bias.size()) map->bias = Vector<float>::Zero(map->weight.rows());
  }
  Layer& added = layers_.emplace_back(Layer{std::move(maps), std::move(settings), {}, {}});
  const Matrix<float> of_values = added.value.bias.transpose();
  added.moved_bias =
      product(of_query_heads(of_values, options_.key_heads, options_.heads), added.output.weight)
          .row(0)
          .transpose();
  added.attention_constant = added.moved_bias + added.output.bias;
}

Projections TransformerStack::projections(const Layer& layer, const Matrix<float>& read) const {
  Projections both{product(read, layer.query.weight), product(read, layer.key.weight)};
  bias_and_normalize(layer, both);
  return both;
}

void TransformerStack::bias_and_normalize(const Layer& layer, Projections& both) const {
  const auto one = [](const PackedLinear<float>& map, const Normalization<float>& norm, int heads,
                      Matrix<float>& rows) {
    add_rows({}, map.bias, rows);
    normalize_heads(norm, heads, rows.rows(), rows);
  };
  one(layer.query, layer.query_norm, options_.heads, both.queries);
  one(layer.key, layer.key_norm, options_.key_heads, both.keys);
}

Projections TransformerStack::projections(int layer, const Matrix<float>& input) const {
  return projections(layers_[layer], input);
}

void TransformerStack::turn_heads(const std::vector<double>& frequencies, Index n, Projections& both) const {
  Turning turning{frequencies, Layout::concatenated, options_.heads};
  turn(turning, n, both.queries);
  turning.heads = options_.key_heads;
  turn(turning, n, both.keys);
}

Forward TransformerStack::forward(const Matrix<float>& embeddings, const ForwardOptions& asked) const {
  ForwardSteps steps(*this, embeddings, asked);
  steps.step(std::numeric_limits<double>::infinity());
  return std::move(steps.run);
}

ForwardSteps::ForwardSteps(const TransformerStack& stack, Matrix<float> embeddings, ForwardOptions asked)
    : stack_(stack),
      asked_(std::move(asked)),
      layers_(asked_.layers < 0 ? stack.layers() : std::min(asked_.layers, stack.layers())),
      x_(std::move(embeddings)) {
  const StackOptions& options = stack_.options_;
  normalize_rows(options.embedding_norm, Centring::twice, x_, run.embedding_sigma);
  run.states.push_back(x_);
  if (layers_ == 0) end();
}

bool ForwardSteps::step(double multiplications) {
  while (layer_ < layers_ && multiplications > 0) {
    if (done_ == 0) start();
    const Index left = pieces_ - done_;
    const bool all = multiplications >= static_cast<double>(left) * each_;
    const Index now = all ? left : std::max<Index>(1, static_cast<Index>(multiplications / each_));
    if (stage_ == kHeads) {
      for (Index h = done_; h < done_ + now; ++h) attend(static_cast<int>(h));
    } else if (now > 0) {
      multiply_packed<float>(*rows_, *by_, done_, done_ + now, out_->data());
    }
    multiplications -= static_cast<double>(now) * each_;
    done_ += now;
    if (done_ < pieces_) continue;
    done_ = 0;
    if (++stage_ < kStages) continue;
    stage_ = 0;
    end_layer();
    if (++layer_ == layers_) end();
  }
  return layer_ == layers_;
}

void ForwardSteps::start() {
  const Layer& of = layer();
  switch (stage_) {
    case kQuery:
      if (stack_.options_.pre_norm) {
        normed_ = x_;
        normalize_rows(of.attention_norm, Centring::twice, normed_, sigma_);
        if (asked_.trace) run.attention_sigma.push_back(sigma_);
      }
      if (asked_.trace) run.inputs.push_back(input());
      return begin_product(input(), of.query, attention_.both.queries);
    case kKey:
      return begin_product(input(), of.key, attention_.both.keys);
    case kValue:
      return begin_product(input(), of.value, attention_.value);
    case kHeads:
      return prepare_heads();
    case kOutput:
      return begin_product(attention_.context, of.output, wrote_);
    case kUp:
      end_attention();
      return begin_product(input(), of.up, mlp_.wide);
    case kGate:
      return begin_product(input(), of.gate, mlp_.gate);
    case kDown:
      if (of.gate.weight.rows())
        activate_gated(stack_.options_.activation, of.gate.bias, mlp_.gate, of.up.bias, mlp_.wide);
      else
        activate(stack_.options_.activation, of.up.bias, mlp_.wide);
      return begin_product(mlp_.wide, of.down, wrote_);
  }
}

void ForwardSteps::begin_product(const Matrix<float>& rows, const PackedLinear<float>& by,
                                 Matrix<float>& out) {
  rows_ = &rows;
  by_ = &by.weight;
  out_ = &out;
  out.resize(rows.rows(), by.weight.rows());
  pieces_ = by.weight.pieces(rows.rows());
  each_ = pieces_ ? static_cast<double>(out.size()) * rows.cols() / pieces_ : 0;
}

void ForwardSteps::prepare_heads() {
  const Layer& of = layer();
  auto& [queries, keys] = attention_.both;
  const Index n = queries.rows(), width = queries.cols() / stack_.options_.heads;
  stack_.bias_and_normalize(of, attention_.both);
  add_rows({}, of.value.bias, attention_.value);
  if (asked_.projections) run.projections.push_back(attention_.both);
  stack_.turn_heads(of.frequencies, n, attention_.both);
  queries *= 1 / std::sqrt(static_cast<float>(width));
  attention_.keys.resize(keys.cols(), n);
  transpose<float>({keys.data(), keys.cols()}, n, keys.cols(), {attention_.keys.data(), n});
  attention_.scores.resize(n, n);
  attention_.context.resize(n, queries.cols());
  pieces_ = stack_.options_.heads;
  each_ = 2.0 * n * n * width;
  if (!asked_.trace) return;
  run.logits.emplace_back(pieces_ * n, n);
  run.attention.emplace_back(pieces_ * n, n);
}

// The weights are the softmax of the head's scores unless others are given.
void ForwardSteps::attend(int h) {
  const StackOptions& options = stack_.options_;
  const Projections& both = attention_.both;
  Matrix<float>& scores = attention_.scores;
  const Index n = scores.rows(), all = both.queries.cols(), of_keys = both.keys.cols();
  const Index width = all / options.heads;
  const int of_key = key_head(h, options.key_heads, options.heads);
  multiply<float>(columns_of(both.queries.data(), all, h, width),
                  {attention_.keys.data() + of_key * width * n, n}, {n, width, n}, {scores.data(), n});
  if (asked_.trace) std::copy_n(scores.data(), n * n, run.logits.back().data() + h * n * n);
  if (options.causal) mask_later(scores);
  softmax<float>({scores.data(), n}, n, n);
  if (layer_ < static_cast<int>(asked_.attention.size()) && asked_.attention[layer_].size())
    std::copy_n(asked_.attention[layer_].data() + h * n * n, n * n, scores.data());
  if (asked_.trace) std::copy_n(scores.data(), n * n, run.attention.back().data() + h * n * n);
  multiply<float>({scores.data(), n}, columns_of(attention_.value.data(), of_keys, of_key, width),
                  {n, n, width}, columns_of(attention_.context.data(), all, h, width));
}

void ForwardSteps::end_attention() {
  const Layer& of = layer();
  if (asked_.trace) run.attended.push_back(wrote_);
  attention_ = {};
  add_rows(wrote_, of.output.bias, x_);
  if (stack_.options_.pre_norm) {
    normed_ = x_;
    normalize_rows(of.mlp_norm, Centring::twice, normed_, sigma_);
  } else {
    normalize_rows(of.attention_norm, Centring::twice, x_, sigma_);
    if (asked_.trace) run.attention_sigma.push_back(sigma_);
  }
}

void ForwardSteps::end_layer() {
  const Layer& of = layer();
  mlp_ = {};
  if (asked_.trace) run.written.push_back(wrote_);
  add_rows(wrote_, of.down.bias, x_);
  if (!stack_.options_.pre_norm) normalize_rows(of.mlp_norm, Centring::twice, x_, sigma_);
  if (asked_.trace) run.mlp_sigma.push_back(sigma_);
  run.states.push_back(x_);
}

void ForwardSteps::end() {
  run.last = std::move(x_);
  if (layers_ == stack_.layers())
    normalize_rows(stack_.options_.final_norm, Centring::twice, run.last, sigma_);
  run.pooled.resize(layers_ + 1, run.last.cols());
  for (int l = 0; l <= layers_; ++l) {
    pooled_embedding(l == layers_ ? run.last : run.states[l], run.pooled.data() + l * run.pooled.cols());
  }
}

ProjectedParts TransformerStack::queries_and_keys(int l, const Matrix<float>& input,
                                                  const std::vector<Matrix<float>>& parts) const {
  const Layer& layer = layers_[l];
  const Index n = input.rows(), d = input.cols(), count = static_cast<Index>(parts.size());
  Matrix<float> stack((1 + count) * n, d);
  float* to = std::copy_n(input.data(), n * d, stack.data());
  for (Index p = 0; p < count; ++p) to = std::copy_n(parts[p].data(), n * d, to);
  const auto project = [&](const PackedLinear<float>& map) {
    const Vector<float>& bias = map.bias;
    Matrix<float> found = product(stack, map.weight);
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < bias.size(); ++c) {
        found(i, c) += bias[c];
        found(count * n + i, c) += bias[c];
      }
    }
    return found;
  };
  Projections both{project(layer.query), project(layer.key)};
  normalize_heads(layer.query_norm, options_.heads, n, both.queries);
  normalize_heads(layer.key_norm, options_.key_heads, n, both.keys);
  turn_heads(layer.frequencies, n, both);
  ProjectedParts result;
  result.rows = join_columns(both.queries, of_query_heads(both.keys, options_.key_heads, options_.heads));
  result.tokens = n;
  result.parts = static_cast<int>(count);
  result.heads = options_.heads;
  result.scale = 1 / std::sqrt(static_cast<float>(result.head_width()));
  return result;
}

Matrix<float> TransformerStack::moved(int l, const Matrix<float>& attention, const Matrix<float>& x) const {
  const Layer& layer = layers_[l];
  const int heads = options_.heads, key_heads = options_.key_heads;
  const Index n = x.rows(), of_values = layer.value.bias.size(), width = of_values / key_heads;
  if (is_zero(x)) return Matrix<float>::Zero(n, x.cols());
  const Matrix<float> values = product(x, layer.value.weight);
  Matrix<float> context(n, heads * width);
  for (int h = 0; h < heads; ++h) {
    multiply<float>({attention.data() + h * n * n, n},
                    columns_of(values.data(), of_values, key_head(h, key_heads, heads), width), {n, n, width},
                    columns_of(context.data(), heads * width, h, width));
  }
  return product(context, layer.output.weight);
}

}  // namespace superpose
