#include "model/transformer_stack.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "encodings/rotary.h"
#include "model/add_rows.h"
#include "numeric/in_place.h"

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
  for (const double x : sum) squares += x * x;
  for (Index c = 0; c < rows.cols(); ++c) out[c] = static_cast<float>(sum[c] / std::sqrt(squares));
}

bool is_zero(const Matrix<float>& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](float entry) { return entry == 0; });
}

}  // namespace

TransformerStack::TransformerStack(StackOptions options) : options_(std::move(options)) {
  if (options_.key_heads == 0) options_.key_heads = options_.heads;
}

void TransformerStack::set_layer(int l, LayerMaps&& maps, LayerSettings&& settings) {
  for (PackedLinear<float>* map :
       {&maps.query, &maps.key, &maps.value, &maps.output, &maps.up, &maps.gate, &maps.down}) {
    if (!map->bias.size()) map->bias = Vector<float>::Zero(map->weight.rows());
  }
  if (l == layers()) layers_.emplace_back();
  Layer& added = layers_[l] = Layer{std::move(maps), std::move(settings), {}, {}};
  const Matrix<float> of_values = added.value.bias.transpose();
  added.attention_bias =
      product(of_query_heads(of_values, options_.key_heads, options_.heads), added.output.weight)
          .row(0)
          .transpose();
  added.attention_constant = added.attention_bias + added.output.bias;
}

void TransformerStack::release_layer(int l) {
  Layer& layer = layers_[l];
  for (PackedLinear<float>* map :
       {&layer.query, &layer.key, &layer.value, &layer.output, &layer.up, &layer.gate, &layer.down})
    map->weight.release();
  layer.is_held = false;
}

Matrix<float> TransformerStack::logits(const Forward& run, int l, int head) const {
  Matrix<float> logits;
  head_logits(run.rotated[l], head, options_.heads, options_.key_heads, logits);
  return logits;
}

Matrix<float> TransformerStack::attention(const Forward& run, int l, int head) const {
  if (!run.given_attention.empty() && run.given_attention[l].size()) {
    const Index n = run.given_attention[l].cols();
    return run.given_attention[l].middleRows(head * n, n);
  }
  Matrix<float> weights = logits(run, l, head);
  softmax_over_keys(options_.causal, weights);
  return weights;
}

void TransformerStack::bias_and_normalize(const Layer& layer, Projections& rows) const {
  add_rows({}, layer.query.bias, rows.queries);
  add_rows({}, layer.key.bias, rows.keys);
  normalize_heads(layer.query_norm, options_.heads, rows.queries.rows(), rows.queries);
  normalize_heads(layer.key_norm, options_.key_heads, rows.keys.rows(), rows.keys);
}

Projections TransformerStack::projections(int l, const Matrix<float>& input) const {
  const Layer& layer = layers_[l];
  Projections rows{product(input, layer.query.weight), product(input, layer.key.weight)};
  bias_and_normalize(layer, rows);
  return rows;
}

void TransformerStack::rotate_heads(const std::vector<double>& frequencies, Index n,
                                    Projections& rows) const {
  Rotation rotation{frequencies, Layout::concatenated, options_.heads};
  rotate_stack(rotation, n, rows.queries);
  rotation.heads = options_.key_heads;
  rotate_stack(rotation, n, rows.keys);
}

ForwardSteps::ForwardSteps(const TransformerStack& stack, Matrix<float> embeddings, ForwardOptions options)
    : stack_(stack),
      options_(std::move(options)),
      layers_(options_.layers < 0 ? stack.layers() : options_.layers),
      last_stage_(options_.has_more && options_.projections ? kValue : kQuery),
      x_(std::move(embeddings)) {
  run.given_attention = std::move(options_.attention);
  normalize_rows(stack_.options_.embedding_norm, Centring::twice, x_, run.embedding_sigma);
  run.states.push_back(x_);
  if (is_complete()) end();
}

bool ForwardSteps::step(double multiplications) {
  while (!is_complete() && multiplications > 0 && stack_.holds(layer_)) {
    if (done_ == 0) start();
    const Index left = pieces_ - done_;
    const bool all = multiplications >= static_cast<double>(left) * multiplications_per_piece_;
    const Index now =
        all ? left : std::max<Index>(1, static_cast<Index>(multiplications / multiplications_per_piece_));
    if (stage_ == kHeads) {
      for (Index h = done_; h < done_ + now; ++h) attend(static_cast<int>(h));
    } else if (now > 0) {
      multiply_packed<float>(*rows_, *by_, done_, done_ + now, out_->data());
    }
    multiplications -= static_cast<double>(now) * multiplications_per_piece_;
    done_ += now;
    if (done_ < pieces_) continue;
    done_ = 0;
    if (++stage_ == kStages) {
      stage_ = 0;
      end_layer();
      ++layer_;
    }
    if (is_complete()) end();
  }
  return is_complete();
}

void ForwardSteps::start() {
  const Layer& of = layer();
  switch (stage_) {
    case kQuery:
      if (stack_.options_.pre_norm) {
        normed_ = x_;
        normalize_rows(of.attention_norm, Centring::twice, normed_, sigma_);
        if (options_.trace && layer_ < layers_) run.attention_sigma.push_back(sigma_);
      }
      if (options_.trace && layer_ < layers_) run.inputs.push_back(input());
      return begin_product(input(), of.query, attention_.projections.queries);
    case kKey:
      return begin_product(input(), of.key, attention_.projections.keys);
    case kValue:
      return begin_product(input(), of.value, attention_.value);
    case kHeads:
      return prepare_heads();
    case kOutput:
      return begin_product(attention_.context, of.output, written_);
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
      return begin_product(mlp_.wide, of.down, written_);
  }
}

void ForwardSteps::begin_product(const Matrix<float>& rows, const PackedLinear<float>& by,
                                 Matrix<float>& out) {
  rows_ = &rows;
  by_ = &by.weight;
  out_ = &out;
  out.resize(rows.rows(), by.weight.rows());
  pieces_ = by.weight.pieces(rows.rows());
  multiplications_per_piece_ = pieces_ ? static_cast<double>(out.size()) * rows.cols() / pieces_ : 0;
}

void ForwardSteps::prepare_heads() {
  const Layer& of = layer();
  auto& [queries, keys] = attention_.projections;
  const Index n = queries.rows(), width = queries.cols() / stack_.options_.heads;
  stack_.bias_and_normalize(of, attention_.projections);
  add_rows({}, of.value.bias, attention_.value);
  if (options_.projections) run.projections.push_back(attention_.projections);
  stack_.rotate_heads(of.frequencies, n, attention_.projections);
  queries *= 1 / std::sqrt(static_cast<float>(width));
  attention_.context.resize(n, queries.cols());
  pieces_ = stack_.options_.heads;
  multiplications_per_piece_ = 2.0 * n * n * width;
}

// Attends with one head. Its weights are the softmax of its scores, unless the options have another run's
// attention.
void ForwardSteps::attend(int h) {
  const StackOptions& options = stack_.options_;
  const Index of_keys = attention_.value.cols(), width = of_keys / options.key_heads;
  Matrix<float>& scores = attention_.scores;
  const Index n = attention_.value.rows(), all = attention_.context.cols();
  if (!run.given_attention.empty() && run.given_attention[layer_].size()) {
    scores = run.given_attention[layer_].middleRows(h * n, n);
  } else {
    head_logits(attention_.projections, h, options.heads, options.key_heads, scores);
    softmax_over_keys(options.causal, scores);
  }
  const int of_key = key_head(h, options.key_heads, options.heads);
  multiply<float>({scores.data(), n}, columns_of(attention_.value.data(), of_keys, of_key, width),
                  {n, n, width}, columns_of(attention_.context.data(), all, h, width));
}

void ForwardSteps::end_attention() {
  const Layer& of = layer();
  if (options_.trace) {
    run.attended.push_back(written_);
    run.rotated.push_back(std::move(attention_.projections));
  }
  attention_ = {};
  add_rows(written_, of.output.bias, x_);
  if (stack_.options_.pre_norm) {
    normed_ = x_;
    normalize_rows(of.mlp_norm, Centring::twice, normed_, sigma_);
  } else {
    normalize_rows(of.attention_norm, Centring::twice, x_, sigma_);
    if (options_.trace) run.attention_sigma.push_back(sigma_);
  }
}

void ForwardSteps::end_layer() {
  const Layer& of = layer();
  mlp_ = {};
  if (options_.trace) run.written.push_back(written_);
  add_rows(written_, of.down.bias, x_);
  if (!stack_.options_.pre_norm) normalize_rows(of.mlp_norm, Centring::twice, x_, sigma_);
  if (options_.trace) run.mlp_sigma.push_back(sigma_);
  run.states.push_back(x_);
}

void ForwardSteps::end() {
  run.last = std::move(x_);
  if (last_stage_ != kQuery) {
    stack_.bias_and_normalize(layer(), attention_.projections);
    run.projections.push_back(std::move(attention_.projections));
  }
  if (!options_.has_more) normalize_rows(stack_.options_.final_norm, Centring::twice, run.last, sigma_);
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
    Matrix<float> projected = product(stack, map.weight);
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < bias.size(); ++c) {
        projected(i, c) += bias[c];
        projected(count * n + i, c) += bias[c];
      }
    }
    return projected;
  };
  Projections rows{project(layer.query), project(layer.key)};
  normalize_heads(layer.query_norm, options_.heads, n, rows.queries);
  normalize_heads(layer.key_norm, options_.key_heads, n, rows.keys);
  rotate_heads(layer.frequencies, n, rows);
  ProjectedParts result;
  result.rows = join_columns(rows.queries, of_query_heads(rows.keys, options_.key_heads, options_.heads));
  result.tokens = n;
  result.parts = static_cast<int>(count);
  result.heads = options_.heads;
  result.scale = 1 / std::sqrt(static_cast<float>(result.head_width()));
  return result;
}

Matrix<float> TransformerStack::attend(int l, const std::vector<Matrix<float>>& attention,
                                       const Matrix<float>& x) const {
  const Layer& layer = layers_[l];
  const int heads = options_.heads, key_heads = options_.key_heads;
  const Index n = x.rows(), of_values = layer.value.bias.size(), width = of_values / key_heads;
  if (is_zero(x)) return Matrix<float>::Zero(n, x.cols());
  const Matrix<float> values = product(x, layer.value.weight);
  Matrix<float> context(n, heads * width);
  for (int h = 0; h < heads; ++h) {
    multiply<float>({attention[h].data(), n},
                    columns_of(values.data(), of_values, key_head(h, key_heads, heads), width), {n, n, width},
                    columns_of(context.data(), heads * width, h, width));
  }
  return product(context, layer.output.weight);
}

}  // namespace superpose
