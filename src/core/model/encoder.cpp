#include "model/encoder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/row_norm.h"
#include "numeric/in_place.h"
#include "numeric/simd.h"

namespace superpose {

using Eigen::Index;

namespace {

template <typename Scalar>
Matrix<Scalar> product(const Matrix<Scalar>& rows, const PackedStack<Scalar>& packed, Index width) {
  Matrix<Scalar> out(rows.rows(), width);
  multiply_packed<Scalar>(rows, packed, 0, 1, 1, rows.rows(), out.data());
  return out;
}

// One head's columns of some rows.
template <typename Scalar>
Block<Scalar> columns_of(Scalar* data, Index stride, Index head, Index width) {
  return {data + head * width, stride};
}

// (x + bias) * scale
template <typename Scalar>
void shift_and_scale(const Vector<Scalar>& bias, Scalar scale, Index rows, Scalar* x) {
  using S = Simd<Scalar>;
  const Index d = bias.size();
  const auto scales = S::all(scale);
  for (Index i = 0; i < rows; ++i, x += d) {
    Index c = 0;
    for (; c + S::kLanes <= d; c += S::kLanes)
      S::store(x + c, (S::load(x + c) + S::load(bias.data() + c)) * scales);
    for (; c < d; ++c) x[c] = (x[c] + bias[c]) * scale;
  }
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
  const Linear<Scalar>& projection = options_.projection;
  if (projection.weight.size()) projection_.pack(projection.weight, projection.weight.rows());
}

template <typename Scalar>
void Encoder<Scalar>::add_layer(const EncoderLayer<Scalar>& layer) {
  const Index d = layer.query.weight.rows();
  Packed packed;
  {
    Matrix<Scalar> three(3 * d, d);
    Scalar* to = three.data();
    for (const Linear<Scalar>* one : {&layer.query, &layer.key, &layer.value})
      to = std::copy_n(one->weight.data(), d * d, to);
    packed.query_key_value.pack(three, d);
  }
  packed.output.pack(layer.output.weight, d);
  packed.up.pack(layer.up.weight, layer.up.weight.rows());
  packed.down.pack(layer.down.weight, d);
  packed.query_bias = bias_or_zeros(layer.query);
  packed.key_bias = bias_or_zeros(layer.key);
  packed.value_bias = bias_or_zeros(layer.value);
  packed.output_bias = bias_or_zeros(layer.output);
  packed.up_bias = bias_or_zeros(layer.up);
  packed.down_bias = bias_or_zeros(layer.down);
  packed.moved_bias.resize(d);
  multiply_rows<Scalar>(packed.value_bias.transpose(), layer.output.weight, 1,
                        MatrixMap<Scalar>(packed.moved_bias.data(), 1, d));
  packed.attention_constant = packed.moved_bias + packed.output_bias;
  packed.attention_norm = layer.attention_norm;
  packed.mlp_norm = layer.mlp_norm;
  layers_.push_back(std::move(packed));
}

template <typename Scalar>
Indices Encoder<Scalar>::relative_buckets(Index n) const {
  if (!has_relative_bias()) return {};
  return t5_buckets(static_cast<int>(n), {true, static_cast<int>(options_.relative_bias.rows()), 128});
}

template <typename Scalar>
void Encoder<Scalar>::add_relative_bias(int head, const Indices& buckets, Scalar* scores,
                                        Scalar* alone) const {
  for (Index cell = 0; cell < buckets.size(); ++cell) {
    const Scalar bias = options_.relative_bias(buckets.data()[cell], head);
    scores[cell] += bias;
    if (alone) alone[cell] = bias;
  }
}

// What attention writes, biases included, with queries and keys from `read` and values from `values_of`. Its
// weights are the softmax of their scores unless others are given.
template <typename Scalar>
void Encoder<Scalar>::attend(const Packed& layer, const Matrix<Scalar>& read, const Matrix<Scalar>& values_of,
                             const Matrix<Scalar>& given, const Indices& buckets,
                             const ForwardOptions<Scalar>& asked, Forward<Scalar>& run,
                             Matrix<Scalar>& out) const {
  const Index n = read.rows(), d = read.cols(), heads = options_.heads, width = d / heads;
  Matrix<Scalar> three(3 * n, d);
  Scalar* const query = three.data();
  Scalar* const key = query + n * d;
  Scalar* const value = key + n * d;
  if (&read == &values_of) {
    multiply_packed<Scalar>(read, layer.query_key_value, 0, 3, 1, n, query);
  } else {
    multiply_packed<Scalar>(read, layer.query_key_value, 0, 2, 1, n, query);
    multiply_packed<Scalar>(values_of, layer.query_key_value, 2, 1, 1, n, value);
  }
  shift_and_scale(layer.query_bias, 1 / std::sqrt(static_cast<Scalar>(width)), n, query);
  shift_and_scale(layer.key_bias, Scalar(1), n, key);
  shift_and_scale(layer.value_bias, Scalar(1), n, value);

  Matrix<Scalar> keys(d, n), scores(n, n), context(n, d);
  transpose<Scalar>({key, d}, n, d, {keys.data(), n});
  if (asked.scores) {
    run.logits.emplace_back(heads * n, n);
    run.attention.emplace_back(heads * n, n);
  }
  for (Index h = 0; h < heads; ++h) {
    multiply<Scalar>(columns_of<const Scalar>(query, d, h, width), {keys.data() + h * width * n, n},
                     {n, width, n}, {scores.data(), n});
    if (has_relative_bias()) add_relative_bias(static_cast<int>(h), buckets, scores.data(), nullptr);
    if (asked.scores) std::copy_n(scores.data(), n * n, run.logits.back().data() + h * n * n);
    for (Index i = 0; i < n && (options_.causal || !asked.attended.empty()); ++i) {
      for (Index j = 0; j < n; ++j) {
        const bool padding = !asked.attended.empty() && !asked.attended[j];
        if (padding || (options_.causal && j > i)) scores(i, j) = Scalar(kMasked);
      }
    }
    softmax<Scalar>({scores.data(), n}, n, n);
    if (given.size()) std::copy_n(given.data() + h * n * n, n * n, scores.data());
    if (asked.scores) std::copy_n(scores.data(), n * n, run.attention.back().data() + h * n * n);
    multiply<Scalar>({scores.data(), n}, columns_of<const Scalar>(value, d, h, width), {n, n, width},
                     columns_of(context.data(), d, h, width));
  }
  out = product(context, layer.output, d);
  if (!asked.trace) return;
  run.values.push_back(MatrixMap<Scalar>(value, n, d));
  run.contexts.push_back(std::move(context));
  run.attended.push_back(out);
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
  const Indices buckets = relative_buckets(x.rows());
  Vector<Scalar> sigma;
  Matrix<Scalar> normed, wrote;
  for (int l = 0; l < most; ++l) {
    const Packed& layer = layers_[l];
    const Index inner = layer.up_bias.size();
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
           buckets, asked, run, wrote);
    add_rows(wrote, layer.output_bias, x);
    if (pre) {
      normed = x;
      normalize_rows(layer.mlp_norm, normed, sigma);
    } else {
      normalize_rows(layer.attention_norm, x, sigma);
      if (asked.trace) run.attention_sigma.push_back(sigma);
    }
    Matrix<Scalar> wide = product(pre ? normed : x, layer.up, inner);
    activate(options_.activation, layer.up_bias, wide);
    wrote = product(wide, layer.down, x.cols());
    if (asked.trace) run.written.push_back(wrote);
    add_rows(wrote, layer.down_bias, x);
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
  const Index width = d / options_.heads;
  Matrix<Scalar> stack((1 + count) * n, d);
  Scalar* to = std::copy_n(input.data(), n * d, stack.data());
  for (Index p = 0; p < count; ++p) to = std::copy_n(parts[p].data(), n * d, to);
  Matrix<Scalar> both(2 * stack.rows(), d);
  multiply_packed<Scalar>(stack, layer.query_key_value, 0, 2, 1, stack.rows(), both.data());
  ProjectedParts<Scalar> result;
  result.queries.resize(stack.rows(), d);
  result.keys.resize(stack.rows(), d);
  std::copy_n(both.data(), stack.size(), result.queries.data());
  std::copy_n(both.data() + stack.size(), stack.size(), result.keys.data());
  result.tokens = n;
  result.parts = static_cast<int>(count);
  result.heads = options_.heads;
  result.scale = 1 / std::sqrt(static_cast<Scalar>(width));
  const auto add = [&](const Vector<Scalar>& bias, Matrix<Scalar>& to) {
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < d; ++c) {
        to(i, c) += bias[c];
        to(count * n + i, c) += bias[c];
      }
    }
  };
  add(layer.query_bias, result.queries);
  add(layer.key_bias, result.keys);
  return result;
}

template <typename Scalar>
Matrix<Scalar> Encoder<Scalar>::mixed(int l, const Matrix<Scalar>& attention, const Matrix<Scalar>& x) const {
  const Index n = x.rows(), d = x.cols(), heads = options_.heads, width = d / heads;
  if (is_zero(x)) return Matrix<Scalar>::Zero(n, d);
  Matrix<Scalar> values(n, d), context(n, d);
  multiply_packed<Scalar>(x, layers_[l].query_key_value, 2, 1, 1, n, values.data());
  for (Index h = 0; h < heads; ++h) {
    multiply<Scalar>({attention.data() + h * n * n, n}, columns_of<const Scalar>(values.data(), d, h, width),
                     {n, n, width}, columns_of(context.data(), d, h, width));
  }
  return context;
}

template <typename Scalar>
Matrix<Scalar> Encoder<Scalar>::moved(int l, const Matrix<Scalar>& attention, const Matrix<Scalar>& x) const {
  const Matrix<Scalar> context = mixed(l, attention, x);
  return is_zero(context) ? context : product(context, layers_[l].output, x.cols());
}

template class Encoder<float>;
template class Encoder<double>;

}  // namespace superpose
