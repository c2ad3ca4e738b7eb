#include "training/model.h"

#include <algorithm>
#include <cmath>

#include "encodings/relative_position.h"
#include "encodings/rotary.h"
#include "numeric/centred.h"

namespace superpose {
namespace {

using Eigen::Index;

// About how many tokens a part of a batch has.
constexpr Index kPart = 64;

// Folds a gain into the weights that read what it multiplies, and a scale of the queries into theirs: once
// per step instead of once per token. to = diag(gain) from, with columns below `scaled` times `scale`.
template <typename Scalar>
void fold(const Scalar* gain, const Scalar* from, Index rows, Index columns, Index scaled, Scalar scale,
          Scalar* to) {
  for (Index k = 0; k < rows; ++k, from += columns, to += columns) {
    const Scalar factor = gain ? gain[k] : 1;
    scale_to<Scalar>(from, factor * scale, scaled, to);
    scale_to<Scalar>(from + scaled, factor, columns - scaled, to + scaled);
  }
}

// The gradients of fold() with respect to its weights and gain, given the gradient with respect to its
// result, which is overwritten.
template <typename Scalar>
void unfold(const Scalar* gain, const Scalar* weights, Index rows, Index columns, Index scaled, Scalar scale,
            Scalar* folded, Scalar* d_weights, Scalar* d_gain) {
  for (Index k = 0; k < rows; ++k, weights += columns, folded += columns, d_weights += columns) {
    scale_to<Scalar>(folded, scale, scaled, folded);
    if (gain) d_gain[k] = sum_of_products<Scalar>(weights, folded, columns);
    scale_to<Scalar>(folded, gain ? gain[k] : 1, columns, d_weights);
  }
}

}  // namespace

template <typename Scalar>
Model<Scalar>::Model(const ModelOptions& options)
    : options_(options), layout_(options), fusion_(options, layout_) {
  const auto place = [this](const std::string& name) {
    const Parameter* const found = layout_.find(name);
    return found ? found->offset : -1;
  };
  p_ = place("P"), u_q_ = place("U_q"), u_k_ = place("U_k"), t5_ = place("T5");
  gf_ = place("gf"), w_u_ = place("W_u");
  for (int l = 0; l < options.layers; ++l) {
    const std::string layer = "layers." + std::to_string(l) + ".";
    places_.push_back({place(layer + "g1"), place(layer + "W_qkv"), place(layer + "W_o")});
  }
  const bool untied = options.scheme == TrainingScheme::untied, t5 = options.scheme == TrainingScheme::t5;
  trains_bias_ = (untied || t5) && !options.zero_scores;
  has_bias_ =
      untied || t5 || options.scheme == TrainingScheme::alibi || options.causal || options.zero_scores;
  content_scale_ = 1 / std::sqrt((untied ? 2.0 : 1.0) * options.d_head());
  if (options.scheme == TrainingScheme::alibi) slopes_ = alibi_slopes(options.heads);
  layers_.resize(options.layers);
  take_memory();

  if (options.scheme == TrainingScheme::rope) {
    const RotaryAngles<Scalar> angles =
        rotary_angles<Scalar>(options.rows, turning(options.d_head(), {1, Layout::interleaved}));
    std::copy_n(angles.cosines.data(), angles.cosines.size(), cosines_);
    std::copy_n(angles.sines.data(), angles.sines.size(), sines_);
  }
}

// Makes the same requests twice: first to count them, then to place them.
template <typename Scalar>
void Model<Scalar>::take_memory() {
  const Index l = options_.rows, d = options_.d_model(), h = options_.heads, classes = options_.classes;
  const Index most = std::max(l, kPart);
  const bool norm = options_.layer_norm, terms = options_.has_terms(), sum = reads_sum();
  const Index square = most * l * h;  // scores of a part: n^2 for each head and n tokens
  Scalar* start = nullptr;
  Index used = 0;
  const auto take = [&](Scalar*& pointer, Index count) {
    pointer = start ? start + used : nullptr;
    used += (count + 15) / 16 * 16;
  };
  const auto take_all = [&] {
    used = 0;
    for (Layer& layer : layers_) {
      take(layer.x, most * d);
      take(layer.normalized, norm ? most * d : 0);
      take(layer.inverse, norm ? most : 0);
      take(layer.qkv, most * 3 * d);
      take(layer.normalized_sum, sum ? most * d : 0);
      take(layer.inverse_sum, sum && norm ? most : 0);
      take(layer.turned, most * 2 * d);
      take(layer.weights, square);
      take(layer.mixed, most * d);
      take(layer.qkv_in, 3 * d * d);
      take(layer.qkv_back, 3 * d * d);
      take(layer.o_back, d * d);
      take(layer.qkv_gradient, 3 * d * d);
      if (!norm) layer.normalized = layer.x;
    }
    take(x_out_, most * d);
    take(normalized_out_, norm ? most * d : 0);
    if (!norm) normalized_out_ = x_out_;
    take(inverse_out_, most);
    take(logits_, most * classes);
    take(dx_, most * d);
    take(d_sum_, sum ? most * d : 0);
    take(d_normalized_, most * d);
    take(d_mixed_, most * d);
    take(d_qkv_, most * 3 * d);
    take(d_scores_, l * l);
    take(unembedding_in_, d * classes);
    take(unembedding_back_, d * classes);
    take(unembedding_gradient_, d * classes);
    take(bias_, has_bias_ ? h * l * l : 0);
    take(bias_gradient_, trains_bias_ ? h * l * l : 0);
    const Index apart = options_.scheme == TrainingScheme::untied ? l * d : 0;
    for (Scalar** pointer :
         {&position_queries_, &position_keys_, &keys_turned_, &d_position_queries_, &d_position_keys_})
      take(*pointer, apart);
    take(u_turned_, apart ? d * options_.d_position() : 0);
    const Index pairs = options_.scheme == TrainingScheme::rope ? l * (d / h / 2) : 0;
    take(cosines_, pairs);
    take(sines_, pairs);
    for (int part : {0, 1}) {
      take(parts_[part], terms ? most * d : 0);
      take(queries_keys_[part], terms ? most * 2 * d : 0);
      take(d_parts_[part], terms ? most * d : 0);
      take(d_queries_keys_[part], terms ? most * 2 * d : 0);
    }
    take(scores_of_terms_, terms ? kTermCount * l * l : 0);
    take(keys_of_terms_, terms ? d * l : 0);
  };
  take_all();
  start = memory_.at_least(used);
  std::fill(start, start + used, Scalar(0));
  take_all();
}

template <typename Scalar>
Index Model<Scalar>::sequences_of_part(Index n) const {
  return std::max<Index>(1, kPart / n);
}

template <typename Scalar>
const Scalar* Model<Scalar>::gain(const Scalar* parameters, Index place) const {
  return options_.layer_norm ? parameters + place : nullptr;
}

// Prepares weights as products read them, and what is added to all scores.
template <typename Scalar>
void Model<Scalar>::prepare(const Scalar* parameters, Index n, bool backward) {
  const Index d = options_.d_model(), classes = options_.classes;
  const auto turned = [](const Scalar* from, Index rows, Index columns, Scalar* to) {
    transpose<Scalar>({from, columns}, rows, columns, {to, rows});
  };
  fusion_.prepare(parameters, n);
  for (int l = 0; l < options_.layers; ++l) {
    const LayerPlaces& at = places_[l];
    const Layer& layer = layers_[l];
    fold<Scalar>(gain(parameters, at.g1), parameters + at.qkv, d, 3 * d, d,
                 static_cast<Scalar>(content_scale_), layer.qkv_in);
    if (!backward) continue;
    turned(layer.qkv_in, d, 3 * d, layer.qkv_back);
    turned(parameters + at.o, d, d, layer.o_back);
    std::fill(layer.qkv_gradient, layer.qkv_gradient + 3 * d * d, Scalar(0));
  }
  fold<Scalar>(gain(parameters, gf_), parameters + w_u_, d, classes, 0, 1, unembedding_in_);
  if (backward) {
    turned(unembedding_in_, d, classes, unembedding_back_);
    std::fill(unembedding_gradient_, unembedding_gradient_ + d * classes, Scalar(0));
    if (trains_bias_) std::fill(bias_gradient_, bias_gradient_ + options_.heads * n * n, Scalar(0));
  }
  if (has_bias_) make_bias(parameters, n, true);
}

template <typename Scalar>
void Model<Scalar>::make_bias(const Scalar* parameters, Index n, bool positions) {
  const Index d = options_.d_model(), heads = options_.heads, width = d / heads;
  const bool zero = options_.zero_scores;
  std::fill(bias_, bias_ + heads * n * n, Scalar(0));
  if (options_.scheme == TrainingScheme::untied && positions && !zero) {
    const Index d_position = options_.d_position();
    const Block<const Scalar> rows{parameters + p_, d_position};
    const ProductShape shape{n, d_position, d};
    multiply<Scalar>(rows, {parameters + u_q_, d}, shape, {position_queries_, d});
    scale_to<Scalar>(position_queries_, static_cast<Scalar>(content_scale_), n * d, position_queries_);
    multiply<Scalar>(rows, {parameters + u_k_, d}, shape, {position_keys_, d});
    transpose<Scalar>({position_keys_, d}, n, d, {keys_turned_, n});
    for (Index h = 0; h < heads; ++h) {
      multiply<Scalar>({position_queries_ + h * width, d}, {keys_turned_ + h * width * n, n}, {n, width, n},
                       {bias_ + h * n * n, n});
    }
  }
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < n; ++i) {
      Scalar* const row = bias_ + (h * n + i) * n;
      for (Index j = 0; j < n; ++j) {
        if (options_.scheme == TrainingScheme::t5 && !zero)
          row[j] = parameters[t5_ + h * (2 * options_.rows - 1) + j - i + options_.rows - 1];
        if (options_.scheme == TrainingScheme::alibi && !zero)
          row[j] = static_cast<Scalar>(-slopes_[h] * static_cast<double>(std::abs(i - j)));
        if (options_.causal && j > i) row[j] = static_cast<Scalar>(kMasked);
      }
    }
  }
}

// RoPE: channels (2k, 2k + 1) of every head of queries and keys; direction -1 turns gradients back.
template <typename Scalar>
void Model<Scalar>::turn(Scalar* qkv, Index count, Index n, Scalar direction) const {
  const Index d = options_.d_model(), width = options_.d_head(), pairs = width / 2;
  for (Index r = 0; r < count; ++r) {
    const Scalar* const cosine = cosines_ + r % n * pairs;
    const Scalar* const sine = sines_ + r % n * pairs;
    for (Index first = 0; first < 2 * d; first += width) {
      rotate_head<Scalar>(qkv + r * 3 * d + first, pairs, Layout::interleaved, cosine, sine, direction);
    }
  }
}

template <typename Scalar>
void Model<Scalar>::add_positions(Index count, Index n, Scalar* x) const {
  const Index d = options_.d_model();
  for (Index r = 0; r < count; ++r) add_to<Scalar>(fusion_.position(r % n), d, x + r * d);
}

// Queries, keys and values of a layer.
template <typename Scalar>
void Model<Scalar>::project_in(const Layer& layer, Index count, Index n) const {
  const Index d = options_.d_model();
  const auto columns = [&](const Scalar* from, Index first, Index width) {
    multiply<Scalar>({from, d}, {layer.qkv_in + first, 3 * d}, {count, d, width}, {layer.qkv + first, 3 * d});
  };
  if (reads_sum()) {
    copy_to<Scalar>(layer.x, count * d, layer.normalized_sum);
    add_positions(count, n, layer.normalized_sum);
    if (options_.layer_norm)
      layer_norm<Scalar>(layer.normalized_sum, count, d, layer.normalized_sum, layer.inverse_sum);
    columns(layer.normalized_sum, 0, 2 * d);
    columns(layer.normalized, 2 * d, d);
    return;
  }
  columns(layer.normalized, 0, 3 * d);
}

// From tokens [count], in whole sequences, to logits [count, classes].
template <typename Scalar>
void Model<Scalar>::forward(const Scalar* parameters, const int* tokens, Index count, Index n,
                            const Terms& kept) {
  const Index d = options_.d_model(), classes = options_.classes;
  fusion_.rows(tokens, count, n, layers_[0].x);

  // The bias is shared by all layers, but a cut is for the first alone.
  const bool cuts_bias = options_.scheme == TrainingScheme::untied && !kept[position_position];
  for (int l = 0; l < options_.layers; ++l) {
    const LayerPlaces& at = places_[l];
    const Layer& layer = layers_[l];
    Scalar* const next = l + 1 < options_.layers ? layers_[l + 1].x : x_out_;
    if (options_.layer_norm) layer_norm<Scalar>(layer.x, count, d, layer.normalized, layer.inverse);
    project_in(layer, count, n);
    if (options_.scheme == TrainingScheme::rope) turn(layer.qkv, count, n, 1);
    const bool by_terms = l == 0 && splits(kept);
    if (by_terms) split_terms(tokens, count, n);
    if (cuts_bias) make_bias(parameters, n, l > 0);
    attend(layer, count / n, n, by_terms, l == 0 ? kept : kAllTerms);
    multiply<Scalar>({layer.mixed, d}, {parameters + at.o, d}, {count, d, d}, {next, d}, {layer.x, d});
  }
  if (options_.layer_norm) layer_norm<Scalar>(x_out_, count, d, normalized_out_, inverse_out_);
  multiply<Scalar>({normalized_out_, d}, {unembedding_in_, classes}, {count, d, classes}, {logits_, classes});
}

// For each sequence and head: scores, their softmax, and the values mixed by it.
template <typename Scalar>
void Model<Scalar>::attend(const Layer& layer, Index sequences, Index n, bool by_terms, const Terms& kept) {
  const Index d = options_.d_model(), heads = options_.heads, width = d / heads;
  const bool token_token_kept = kept[token_token];
  for (Index s = 0; s < sequences; ++s) {
    const Scalar* const qkv = layer.qkv + s * n * 3 * d;
    // Keys and values, transposed: [2D, n].
    Scalar* const turned = layer.turned + s * 2 * d * n;
    transpose<Scalar>({qkv + d, 3 * d}, n, 2 * d, {turned, n});
    for (Index h = 0; h < heads; ++h) {
      const Block<Scalar> weights{layer.weights + (s * heads + h) * n * n, n};
      const ProductShape shape{n, width, n};
      const Block<const Scalar> bias{bias_ + h * n * n, n};
      const bool from_content = !options_.zero_scores && !by_terms && token_token_kept;
      if (!from_content) {
        if (has_bias_)
          copy_to<Scalar>(bias.at, n * n, weights.at);
        else
          std::fill_n(weights.at, n * n, Scalar(0));
        if (by_terms) add_terms(s, h, n, kept, weights);
      } else if (has_bias_) {
        multiply<Scalar>({qkv + h * width, 3 * d}, {turned + h * width * n, n}, shape, weights, bias);
      } else {
        multiply<Scalar>({qkv + h * width, 3 * d}, {turned + h * width * n, n}, shape, weights);
      }
      softmax<Scalar>(weights, n, n);
      multiply<Scalar>(weights, {qkv + 2 * d + h * width, 3 * d}, {n, n, width},
                       {layer.mixed + s * n * d + h * width, d});
    }
  }
}

// Adds the kept terms to a head's scores of a sequence.
template <typename Scalar>
void Model<Scalar>::add_terms(Index sequence, Index head, Index n, const Terms& kept, Block<Scalar> scores) {
  const Index d = options_.d_model(), width = options_.d_head();
  const Index at = sequence * n * 2 * d + head * width;
  for (int key = 0; key < 2; ++key) {
    if (!kept[key] && !kept[2 + key]) continue;
    transpose<Scalar>({queries_keys_[key] + at + d, 2 * d}, n, width, {keys_of_terms_, n});
    for (int query = 0; query < 2; ++query) {
      if (!kept[2 * query + key]) continue;
      multiply<Scalar>({queries_keys_[query] + at, 2 * d}, {keys_of_terms_, n}, {n, width, n}, scores,
                       scores);
    }
  }
}

// Splits the first layer's normalized stream into the parts of tokens and positions, and computes queries and
// keys of both. Call it after project_in() has found the rows' sizes.
template <typename Scalar>
void Model<Scalar>::split_terms(const int* tokens, Index count, Index n) {
  const Index d = options_.d_model(), d_token = options_.d_token(), d_position = options_.d_position();
  const Scalar* const inverse = inverse_of_scores();
  for (Index r = 0; r < count; ++r) {
    Scalar* const token = parts_[0] + r * d;
    Scalar* const position = parts_[1] + r * d;
    std::fill_n(token, d, Scalar(0));
    std::fill_n(position, d, Scalar(0));
    copy_to<Scalar>(fusion_.token(tokens[r]), d_token, token);
    copy_to<Scalar>(fusion_.position(r % n), d_position, position + d - d_position);
    if (!options_.layer_norm) continue;
    for (Scalar* const row : {token, position}) {
      Scalar sum = 0;
      for (Index c = 0; c < d; ++c) sum += row[c];
      const Scalar mean = sum / static_cast<Scalar>(d);
      for (Index c = 0; c < d; ++c) row[c] = (row[c] - mean) * inverse[r];
    }
  }
  for (int part : {0, 1}) {
    multiply<Scalar>({parts_[part], d}, {layers_[0].qkv_in, 3 * d}, {count, d, 2 * d},
                     {queries_keys_[part], 2 * d});
  }
}

// From the gradient with respect to the logits, in logits_, to the gradients of all weights.
template <typename Scalar>
void Model<Scalar>::backward(const int* tokens, Index count, Index n, Scalar* gradient, const Terms& kept) {
  const Index d = options_.d_model(), classes = options_.classes;
  const auto add_gradient = [count](const Scalar* in, Index rows, const Scalar* out, Index columns,
                                    Scalar* to) {
    multiply_transposed<Scalar>({in, rows}, {out, columns}, {rows, count, columns}, {to, columns},
                                {to, columns});
  };
  add_gradient(normalized_out_, d, logits_, classes, unembedding_gradient_);
  // Through a LayerNorm and past it, into dx; without one, straight into dx.
  const auto into = [&](Scalar* dx, const Scalar* back, Index columns, Block<const Scalar> from,
                        const Scalar* normalized, const Scalar* inverse, bool first) {
    const ProductShape shape{count, columns, d};
    if (options_.layer_norm) {
      multiply<Scalar>(from, {back, d}, shape, {d_normalized_, d});
      if (first) std::fill_n(dx, count * d, Scalar(0));
      add_layer_norm_backward<Scalar>(d_normalized_, normalized, inverse, count, d, dx);
    } else if (first) {
      multiply<Scalar>(from, {back, d}, shape, {dx, d});
    } else {
      multiply<Scalar>(from, {back, d}, shape, {dx, d}, {dx, d});
    }
  };
  into(dx_, unembedding_back_, classes, {logits_, classes}, normalized_out_, inverse_out_, true);

  for (int l = options_.layers - 1; l >= 0; --l) {
    const LayerPlaces& at = places_[l];
    const Layer& layer = layers_[l];
    add_gradient(layer.mixed, d, dx_, d, gradient + at.o);
    multiply<Scalar>({dx_, d}, {layer.o_back, d}, {count, d, d}, {d_mixed_, d});
    const bool by_terms = l == 0 && splits(kept);
    attend_backward(layer, count / n, n, by_terms, l == 0 ? kept : kAllTerms);
    if (options_.scheme == TrainingScheme::rope) turn(d_qkv_, count, n, -1);
    // The first of the columns of queries, keys and values that read the stream as it is, and not x + p.
    const Index first = reads_sum() ? 2 * d : 0;
    const auto add_projection = [&](const Scalar* in, Index from, Index columns) {
      const Block<Scalar> to{layer.qkv_gradient + from, 3 * d};
      multiply_transposed<Scalar>({in, d}, {d_qkv_ + from, 3 * d}, {d, count, columns}, to, to);
    };
    add_projection(layer.normalized, first, 3 * d - first);
    if (reads_sum()) add_projection(layer.normalized_sum, 0, first);
    for (int part = 0; by_terms && part < 2; ++part) {
      const Block<Scalar> to{layer.qkv_gradient, 3 * d};
      multiply_transposed<Scalar>({parts_[part], d}, {d_queries_keys_[part], 2 * d}, {d, count, 2 * d}, to,
                                  to);
    }
    if (l == 0 && !fusion_.trains()) return;
    const Block<const Scalar> d_read{d_qkv_ + first, 3 * d};
    into(dx_, layer.qkv_back + first * d, 3 * d - first, d_read, layer.normalized, layer.inverse, false);
    if (reads_sum()) {
      const Block<const Scalar> d_of_sum{d_qkv_, 3 * d};
      into(d_sum_, layer.qkv_back, first, d_of_sum, layer.normalized_sum, layer.inverse_sum, true);
    }
    if (by_terms) split_backward(count, reads_sum() ? d_sum_ : dx_);
    if (reads_sum()) {
      add_to<Scalar>(d_sum_, count * d, dx_);
      fusion_.add_gradients(tokens, count, n, nullptr, d_sum_);
    }
  }
  fusion_.backward(tokens, count, n, dx_);
  if (splits(kept)) fusion_.add_gradients(tokens, count, n, d_parts_[0], d_parts_[1]);
}

// From the gradients of the queries and keys of e and p to those of e and p themselves: what belongs to one
// alone goes to d_parts_, what comes from their common size to d_sum, the gradient of their sum.
template <typename Scalar>
void Model<Scalar>::split_backward(Index count, Scalar* d_sum) {
  const Index d = options_.d_model();
  const Layer& layer = layers_[0];
  const Scalar* const inverse = inverse_of_scores();
  const Scalar* const normalized = reads_sum() ? layer.normalized_sum : layer.normalized;
  for (int part : {0, 1}) {
    multiply<Scalar>({d_queries_keys_[part], 2 * d}, {layer.qkv_back, d}, {count, 2 * d, d},
                     {d_parts_[part], d});
  }
  if (!options_.layer_norm) return;
  for (Index r = 0; r < count; ++r) {
    Scalar along = 0;
    for (int part : {0, 1}) {
      Scalar* const row = d_parts_[part] + r * d;
      along += sum_of_products<Scalar>(row, parts_[part] + r * d, d);
      Scalar sum = 0;
      for (Index c = 0; c < d; ++c) sum += row[c];
      const Scalar mean = sum / static_cast<Scalar>(d);
      for (Index c = 0; c < d; ++c) row[c] = (row[c] - mean) * inverse[r];
    }
    const Scalar shrink = along * inverse[r] / static_cast<Scalar>(d);
    for (Index c = 0; c < d; ++c) d_sum[r * d + c] -= shrink * normalized[r * d + c];
  }
}

template <typename Scalar>
void Model<Scalar>::attend_backward(const Layer& layer, Index sequences, Index n, bool by_terms,
                                    const Terms& kept) {
  const Index d = options_.d_model(), heads = options_.heads, width = d / heads;
  for (Index s = 0; s < sequences; ++s) {
    const Index row = s * n;
    const Scalar* const qkv = layer.qkv + row * 3 * d;
    const Scalar* const turned = layer.turned + row * 2 * d;
    Scalar* const d_qkv = d_qkv_ + row * 3 * d;
    for (Index h = 0; h < heads; ++h) {
      const Index column = h * width;
      const Block<const Scalar> weights{layer.weights + (s * heads + h) * n * n, n};
      const Block<const Scalar> d_mixed{d_mixed_ + row * d + column, d};
      multiply_transposed<Scalar>(weights, d_mixed, {n, n, width}, {d_qkv + 2 * d + column, 3 * d});
      const Block<Scalar> d_queries{d_qkv + column, 3 * d}, d_keys{d_qkv + d + column, 3 * d};
      // Otherwise content adds nothing to the scores, or adds to them term by term.
      const bool from_content = !options_.zero_scores && !by_terms && kept[token_token];
      if (!from_content) {
        for (Index i = 0; i < n; ++i) {
          std::fill_n(d_queries.row(i), width, Scalar(0));
          std::fill_n(d_keys.row(i), width, Scalar(0));
        }
      }
      if (options_.zero_scores) continue;
      const Block<Scalar> d_scores{d_scores_, n};
      multiply<Scalar>(d_mixed, {turned + (d + column) * n, n}, {n, width, n}, d_scores);
      softmax_backward<Scalar>(weights, d_scores, n, n);
      if (trains_bias_ && kept[position_position])
        add_to<Scalar>(d_scores_, n * n, bias_gradient_ + h * n * n);
      if (by_terms) terms_backward(s, h, n, kept);
      if (!from_content) continue;
      multiply<Scalar>(d_scores, {qkv + d + column, 3 * d}, {n, n, width}, d_queries);
      multiply_transposed<Scalar>(d_scores, {qkv + column, 3 * d}, {n, n, width}, d_keys);
    }
  }
}

// The gradients of the queries and keys of e and p, given d_scores_, the gradient with respect to
// the scores.
template <typename Scalar>
void Model<Scalar>::terms_backward(Index sequence, Index head, Index n, const Terms& kept) {
  const Index d = options_.d_model(), width = options_.d_head();
  const Index at = sequence * n * 2 * d + head * width;
  const ProductShape shape{n, n, width};
  const Block<const Scalar> d_scores{d_scores_, n};
  for (int part : {0, 1}) {
    const Block<Scalar> d_queries{d_queries_keys_[part] + at, 2 * d},
        d_keys{d_queries_keys_[part] + at + d, 2 * d};
    for (Index i = 0; i < n; ++i) {
      std::fill_n(d_queries.row(i), width, Scalar(0));
      std::fill_n(d_keys.row(i), width, Scalar(0));
    }
    for (int other : {0, 1}) {
      const Scalar* const others = queries_keys_[other] + at;
      if (kept[2 * part + other])
        multiply<Scalar>(d_scores, {others + d, 2 * d}, shape, d_queries, d_queries);
      if (kept[2 * other + part])
        multiply_transposed<Scalar>(d_scores, {others, 2 * d}, shape, d_keys, d_keys);
    }
  }
}

// Passes what was summed over the whole batch on to its parameters.
template <typename Scalar>
void Model<Scalar>::finish(const Scalar* parameters, Index n, Scalar* gradient) {
  const Index d = options_.d_model(), heads = options_.heads, width = d / heads;
  for (int l = 0; l < options_.layers; ++l) {
    const LayerPlaces& at = places_[l];
    unfold<Scalar>(gain(parameters, at.g1), parameters + at.qkv, d, 3 * d, d,
                   static_cast<Scalar>(content_scale_), layers_[l].qkv_gradient, gradient + at.qkv,
                   gradient + at.g1);
  }
  fusion_.finish(parameters, n, gradient);
  const Index classes = options_.classes;
  unfold<Scalar>(gain(parameters, gf_), parameters + w_u_, d, classes, 0, 1, unembedding_gradient_,
                 gradient + w_u_, gradient + gf_);
  if (!trains_bias_) return;

  if (options_.scheme == TrainingScheme::t5) {
    for (Index h = 0; h < heads; ++h) {
      Scalar* const offsets = gradient + t5_ + h * (2 * options_.rows - 1) + options_.rows - 1;
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) offsets[j - i] += bias_gradient_[(h * n + i) * n + j];
      }
    }
    return;
  }
  const Index d_position = options_.d_position();
  for (Index h = 0; h < heads; ++h) {
    const Block<const Scalar> d_bias{bias_gradient_ + h * n * n, n};
    const ProductShape shape{n, n, width};
    multiply<Scalar>(d_bias, {position_keys_ + h * width, d}, shape, {d_position_queries_ + h * width, d});
    multiply_transposed<Scalar>(d_bias, {position_queries_ + h * width, d}, shape,
                                {d_position_keys_ + h * width, d});
  }
  scale_to<Scalar>(d_position_queries_, static_cast<Scalar>(content_scale_), n * d, d_position_queries_);
  for (const auto& [u, d_projected] : {std::pair(u_q_, d_position_queries_), {u_k_, d_position_keys_}}) {
    multiply_transposed<Scalar>({parameters + p_, d_position}, {d_projected, d}, {d_position, n, d},
                                {gradient + u, d});
    if (!options_.trains_positions()) continue;
    transpose<Scalar>({parameters + u, d}, d_position, d, {u_turned_, d_position});
    const Block<Scalar> d_rows{gradient + p_, d_position};
    multiply<Scalar>({d_projected, d}, {u_turned_, d_position}, {n, d, d_position}, d_rows, d_rows);
  }
}

template <typename Scalar>
double Model<Scalar>::loss_and_gradient(const Scalar* parameters, const Batch& batch, Scalar* gradient,
                                        const Terms& kept) {
  const Index n = batch.n, part = sequences_of_part(n), classes = options_.classes;
  const Index places = static_cast<Index>(batch.sequences) * n;
  const auto total =
      static_cast<double>(std::count_if(batch.targets, batch.targets + places, [](int t) { return t >= 0; }));
  std::fill_n(gradient, layout_.size(), Scalar(0));
  prepare(parameters, n, true);
  double loss = 0;
  for (Index s = 0; s < batch.sequences; s += part) {
    const Index count = std::min(part, batch.sequences - s) * n;
    forward(parameters, batch.tokens + s * n, count, n, kept);
    loss += cross_entropy<Scalar>(logits_, batch.targets + s * n, count, classes, total);
    backward(batch.tokens + s * n, count, n, gradient, kept);
  }
  finish(parameters, n, gradient);
  return loss / total;
}

template <typename Scalar>
void Model<Scalar>::logits(const Scalar* parameters, const Batch& batch, Scalar* out, const Terms& kept) {
  const Index n = batch.n, part = sequences_of_part(n);
  prepare(parameters, n, false);
  for (Index s = 0; s < batch.sequences; s += part) {
    const Index count = std::min(part, batch.sequences - s) * n;
    forward(parameters, batch.tokens + s * n, count, n, kept);
    out = std::copy_n(logits_, count * options_.classes, out);
  }
}

template <typename Scalar>
void Model<Scalar>::attention(const Scalar* parameters, const Batch& batch, int layer, Scalar* out,
                              const Terms& kept) {
  const Index n = batch.n, part = sequences_of_part(n);
  prepare(parameters, n, false);
  for (Index s = 0; s < batch.sequences; s += part) {
    const Index sequences = std::min(part, batch.sequences - s);
    forward(parameters, batch.tokens + s * n, sequences * n, n, kept);
    out = std::copy_n(layers_[layer].weights, sequences * options_.heads * n * n, out);
  }
}

template <typename Scalar>
Evaluation Model<Scalar>::evaluate(const Scalar* parameters, const Batch& batch, const Terms& kept) {
  const Index n = batch.n, part = sequences_of_part(n), classes = options_.classes;
  prepare(parameters, n, false);
  Evaluation result;
  for (Index s = 0; s < batch.sequences; s += part) {
    const Index count = std::min(part, batch.sequences - s) * n;
    const int* const targets = batch.targets + s * n;
    forward(parameters, batch.tokens + s * n, count, n, kept);
    for (Index r = 0; r < count; ++r) {
      if (targets[r] < 0) continue;
      const Scalar* const row = logits_ + r * classes;
      ++result.targets;
      result.right += std::max_element(row, row + classes) - row == targets[r];
    }
    result.loss += cross_entropy<Scalar>(logits_, targets, count, classes, 1);
  }
  result.loss /= result.targets;
  return result;
}

// Subtracts from queries_keys_ what the canonical gauge calls constant: part s becomes q_s(i) - m_s /
// sigma_i, which sums to zero over a sequence. m_s is linear in the part, so it can be subtracted after
// projection.
template <typename Scalar>
void Model<Scalar>::move_means_into_constant(Index sequences, Index n) {
  const Index columns = 2 * options_.d_model();
  const Scalar* const inverse = inverse_of_scores();
  const bool norm = options_.layer_norm;
  for (Index s = 0; s < sequences; ++s) {
    double weights = 0;
    for (Index i = 0; i < n; ++i) weights += norm ? inverse[s * n + i] : 1;
    for (Scalar* const of_part : queries_keys_) {
      Scalar* const rows = of_part + s * n * columns;
      for (Index c = 0; c < columns; ++c) {
        double sum = 0;
        for (Index i = 0; i < n; ++i) sum += rows[i * columns + c];
        const double mean = sum / weights;
        for (Index i = 0; i < n; ++i)
          rows[i * columns + c] -= static_cast<Scalar>(mean * (norm ? inverse[s * n + i] : 1));
      }
    }
  }
}

// Calls visit(sequence, head, scores, terms) for each head of the first layer: the sum of the kept terms [n, n],
// or the whole score where that is no sum of terms, and kTermCount terms, 0 unless kept.
template <typename Scalar>
template <typename Visit>
void Model<Scalar>::each_score(const Scalar* parameters, const Batch& batch, const Terms& kept,
                               TermGauge gauge, const Visit& visit) {
  const Index n = batch.n, part = sequences_of_part(n), d = options_.d_model(), width = options_.d_head();
  const bool untied = options_.scheme == TrainingScheme::untied;
  const Layer& layer = layers_[0];
  prepare(parameters, n, false);
  const auto term_at = [&](int t) { return scores_of_terms_ + t * n * n; };
  for (Index s = 0; s < batch.sequences; s += part) {
    const Index sequences = std::min(part, batch.sequences - s);
    // A forward pass leaves the first layer's queries and keys, the only place where `untied` has them.
    // Scores without the mask then overwrite its attention weights.
    forward(parameters, batch.tokens + s * n, sequences * n, n, kAllTerms);
    std::fill_n(layer.weights, sequences * options_.heads * n * n, Scalar(0));
    const auto content = [&](Index q, Index h, Scalar* to) {
      const Scalar* const at = layer.qkv + q * n * 3 * d + h * width;
      transpose<Scalar>({at + d, 3 * d}, n, width, {keys_of_terms_, n});
      multiply<Scalar>({at, 3 * d}, {keys_of_terms_, n}, {n, width, n}, {to, n});
    };
    if (!untied) {
      split_terms(batch.tokens + s * n, sequences * n, n);
      for (Index q = 0; q < sequences; ++q) {
        for (Index h = 0; h < options_.heads; ++h) {
          Scalar* const scores = layer.weights + (q * options_.heads + h) * n * n;
          add_terms(q, h, n, kept, {scores, n});
        }
      }
      if (gauge == TermGauge::canonical) move_means_into_constant(sequences, n);
    }
    for (Index q = 0; q < sequences; ++q) {
      for (Index h = 0; h < options_.heads; ++h) {
        Scalar* const scores = layer.weights + (q * options_.heads + h) * n * n;
        std::fill_n(scores_of_terms_, kTermCount * n * n, Scalar(0));
        if (untied) {
          if (kept[token_token]) content(q, h, term_at(token_token));
          if (kept[position_position]) {
            for (Index i = 0; i < n; ++i)
              copy_to<Scalar>(bias_ + (h * n + i) * n, options_.causal ? i + 1 : n,
                              term_at(position_position) + i * n);
          }
          for (int t = 0; t < kTermCount; ++t) add_to<Scalar>(term_at(t), n * n, scores);
        } else {
          for (int t = 0; t < kTermCount; ++t) {
            Terms one{};
            one[t] = kept[t];
            add_terms(q, h, n, one, {term_at(t), n});
          }
        }
        visit(s + q, h, scores, scores_of_terms_);
      }
    }
  }
}

template <typename Scalar>
void Model<Scalar>::term_covariances(const Scalar* parameters, const Batch& batch, TermCovariances* heads,
                                     const Terms& kept, TermGauge gauge) {
  const Index n = batch.n;
  std::fill_n(heads, options_.heads, TermCovariances());
  each_score(parameters, batch, kept, gauge, [&](Index, Index h, const Scalar* scores, const Scalar* terms) {
    TermCovariances& head = heads[h];
    for (Index i = 0; i < n; ++i) {
      const Index keys = options_.causal ? i + 1 : n;
      const Scalar* const score_row = scores + i * n;
      double score_mean = 0, means[kTermCount] = {};
      for (Index j = 0; j < keys; ++j) score_mean += score_row[j];
      score_mean /= static_cast<double>(keys);
      for (int t = 0; t < kTermCount; ++t) {
        const Scalar* const row = terms + (t * n + i) * n;
        for (Index j = 0; j < keys; ++j) means[t] += row[j];
        means[t] /= static_cast<double>(keys);
      }
      for (Index j = 0; j < keys; ++j) {
        const double score = score_row[j] - score_mean;
        head.scores += score * score;
        for (int t = 0; t < kTermCount; ++t) {
          const Scalar term = terms[(t * n + i) * n + j];
          head.terms[t] += (term - means[t]) * score;
          head.largest = std::max(head.largest, std::abs(static_cast<double>(term)));
        }
      }
    }
  });
  // Scores that should be equal differ by rounding, which must not count as variation.
  for (TermCovariances* head = heads; head < heads + options_.heads; ++head) {
    const double noise = rounding_of<Scalar>(head->largest, n);
    if (head->scores <= noise * noise * batch.sequences) *head = TermCovariances();
  }
}

template class Model<float>;
template class Model<double>;

}  // namespace superpose
