#include "training/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "encodings/rotary.h"
#include "scores/layer_norm.h"
#include "scores/shares.h"
#include "training/product.h"

namespace superpose {

using Eigen::Index;

// Values derived from the parameters once per batch; a second instance holds their gradients.
struct Model::Derived {
  Tables tables;
  // Weights times the gain of the LayerNorm before them: W_qkv of each layer, its queries also times the
  // scores' scale, and W_u. No norm comes before W_o.
  std::vector<Matrix<float>> W_qkv, W_o;
  Matrix<float> W_u;
  // Added to scores, [H n, n]: the causal mask alone, and the mask with the scheme's bias.
  Matrix<float> mask, bias;
};

// LayerNorm without a gain, or the rows as they are.
struct Model::Normalized {
  Matrix<float> rows;
  Vector<float> inverse;  // 1 / sigma of each row
};

// How a layer's scores are computed: a sum of products q k', each of two factors, and a bias. The choice is
// made once, so that no loop asks which terms are included.
struct Model::Scores {
  enum Factors { none, input, parts };
  Factors factors = none;                          // no factor; the input of the layer; tokens and positions
  std::vector<std::pair<int, int>> products = {};  // (query's factor, key's factor)
  bool biased = false;                             // whether the scheme's bias is added, besides the mask
};

// A source of queries and keys: the rows that a layer's scores read, or the tokens or positions in them.
struct Model::Factor {
  Matrix<float> rows;             // [count, D], normalized; empty for a layer's input, which Layer stores
  Matrix<float> queries_keys;     // [count, 2D]
  Matrix<float> transposed_keys;  // by sequence, [sequences D, n]
  Matrix<float> d_queries_keys;   // the gradient of queries_keys
};

// What forward() stores of a layer.
struct Model::Layer {
  Normalized input;             // what values read, and queries and keys too, unless scores_read_sum()
  Normalized sum;               // x + p, which queries and keys read otherwise
  std::vector<Factor> factors;  // of the scores
  Matrix<float> values;         // [count, D]
  Matrix<float> weights;        // [sequences H n, n]
  Matrix<float> mixed;          // values, mixed by these weights
};

struct Model::Trace {
  std::vector<Layer> layers;
  Normalized output;
  Matrix<float> logits;
};

namespace {

// LayerNorm of rows whose means are already subtracted, with PyTorch's epsilon. Its gain is multiplied into
// the weights after it.
const Normalization<float> kNormOfCentred{Norm::rms_norm, {}, {}, 1e-5};

Matrix<float> minus_row_means(const Matrix<float>& x) { return x.colwise() - row_means(x); }

// diag(gain) weight; an empty gain is ones.
Matrix<float> with_gain(const Matrix<float>& gain, const Matrix<float>& weight) {
  return gain.size() ? Matrix<float>(gain.row(0).asDiagonal() * weight) : weight;
}

void add_gain_gradient(const Matrix<float>& gain, const Matrix<float>& weight, const Matrix<float>& d_product,
                       Matrix<float>& d_gain, Matrix<float>& d_weight) {
  d_weight += with_gain(gain, d_product);
  if (gain.size()) d_gain += row_dots(weight, d_product).transpose();
}

// Columns from `first` on of rows in sequences of n, each sequence transposed: [sequences columns, n].
Matrix<float> transposed_by_sequence(const Matrix<float>& rows, Index first, Index n) {
  const Index columns = rows.cols() - first, sequences = rows.rows() / n;
  Matrix<float> out(sequences * columns, n);
  for (Index s = 0; s < sequences; ++s)
    transpose<float>({&rows(s * n, first), rows.cols()}, n, columns, {&out(s * columns, 0), n});
  return out;
}

// Parts of a batch have about this many tokens, in whole sequences.
constexpr Index kPart = 64;

template <typename Visit>
void each_part(const Batch& batch, const Visit& visit) {
  const int most = std::max<int>(1, kPart / batch.n);
  for (int s = 0; s < batch.sequences; s += most)
    visit(Batch{std::min(most, batch.sequences - s), batch.n, batch.tokens + s * batch.n,
                batch.targets ? batch.targets + s * batch.n : nullptr});
}

// The sum of the rows' losses. Replaces the logits by the gradient of that sum divided by `total`; rows
// without a target become zero.
double cross_entropy(Matrix<float>& logits, const int* targets, double total) {
  double loss = 0;
  for (Index i = 0; i < logits.rows(); ++i) {
    auto row = logits.row(i);
    if (targets[i] < 0) {
      row.setZero();
      continue;
    }
    const float target_logit = row[targets[i]];
    const auto [largest, sum] = to_exponentials(row.data(), logits.cols());
    loss += std::log(static_cast<double>(sum)) + (static_cast<double>(largest) - target_logit);
    row *= static_cast<float>(1 / (sum * total));
    row[targets[i]] -= static_cast<float>(1 / total);
  }
  return loss;
}

}  // namespace

Model::Model(const ModelOptions& options) : options_(options) {
  if (options.scheme == TrainingScheme::rope) {
    const RotaryAngles<float> angles =
        rotary_angles<float>(options.positions, rotation(options.d_head(), {1, Layout::interleaved}));
    cosines_ = angles.cosines, sines_ = angles.sines;
  }
}

Model::Derived Model::derive(const Parameters& parameters, Index n) const {
  Derived derived;
  derived.tables = tables(options_, parameters, n);
  for (const LayerParameters& layer : parameters.layers) {
    derived.W_qkv.push_back(with_gain(layer.g1, layer.W_qkv));
    derived.W_qkv.back().leftCols(options_.stream()) *= options_.score_scale();
    derived.W_o.push_back(layer.W_o);
  }
  derived.W_u = with_gain(parameters.gf, parameters.W_u);
  derived.mask = causal_mask(options_, n);
  derived.bias = mask_and_bias(options_, parameters, n);
  return derived;
}

// One entry for each layer.
std::vector<Model::Scores> Model::choose_scores(const Terms& terms) const {
  if (options_.zero_scores) return std::vector<Scores>(options_.layers);
  const bool biased = options_.has_bias();
  std::vector<Scores> layers(options_.layers, {Scores::input, {{0, 0}}, biased});
  if (terms == kAllTerms) return layers;
  Scores& first = layers[0];
  first.products.clear();
  if (options_.sums()) {
    for (int t = 0; t < kTermCount; ++t) {
      if (terms[t]) first.products.emplace_back(t / 2, t % 2);
    }
    first.factors = Scores::parts;
  } else {
    // In `tupe`, the bias is the position-position term.
    if (terms[token_token]) first.products.emplace_back(0, 0);
    first.biased = terms[position_position];
  }
  if (first.products.empty()) first.factors = Scores::none;
  return layers;
}

Model::Normalized Model::normalize(const Matrix<float>& x) const {
  if (!options_.layer_norm) return {x, Vector<float>::Ones(x.rows())};
  // Centring into a new matrix saves the copy of x that centring in place would need.
  Normalized normalized{minus_row_means(x), {}};
  Vector<float> sigma;
  normalize_rows(kNormOfCentred, Centring::once, normalized.rows, sigma);
  normalized.inverse = sigma.cwiseInverse();
  return normalized;
}

// The gradient with respect to x, given the gradient with respect to the normalized rows.
Matrix<float> Model::normalize_backward(const Normalized& normalized, const Matrix<float>& gradient) const {
  if (!options_.layer_norm) return gradient;
  const Vector<float> along = row_dots(gradient, normalized.rows) / static_cast<float>(gradient.cols());
  return normalized.inverse.asDiagonal() * (minus_row_means(gradient) - along.asDiagonal() * normalized.rows);
}

// RoPE: rotates channels (2k, 2k + 1) of every head of queries and keys; direction -1 rotates gradients
// back.
void Model::rotate(Matrix<float>& queries_keys, Index n, float direction) const {
  const Index width = options_.d_head();
  for (Index r = 0; r < queries_keys.rows(); ++r) {
    for (Index first = 0; first < queries_keys.cols(); first += width)
      rotate_head<float>(&queries_keys(r, first), width / 2, Layout::interleaved, &cosines_(r % n, 0),
                         &sines_(r % n, 0), direction);
  }
}

Model::Factor Model::factor(const Derived& derived, int layer, const Matrix<float>& rows, Index n) const {
  const Index d = options_.stream();
  Factor factor;
  factor.queries_keys = times(rows, derived.W_qkv[layer].leftCols(2 * d));
  if (options_.scheme == TrainingScheme::rope) rotate(factor.queries_keys, n, 1);
  factor.transposed_keys = transposed_by_sequence(factor.queries_keys, d, n);
  return factor;
}

// Splits what the first layer's queries and keys read into tokens and positions, both normalized by the
// sigma of their sum.
std::vector<Model::Factor> Model::part_factors(const Derived& derived, const Batch& part,
                                               const Normalized& sum) const {
  std::vector<Factor> factors;
  for (int k : {0, 1}) {
    Matrix<float> rows =
        k == 0 ? token_rows(options_, derived.tables, part) : position_rows(options_, derived.tables, part);
    if (options_.layer_norm) rows = sum.inverse.asDiagonal() * minus_row_means(rows);
    factors.push_back(factor(derived, 0, rows, part.n));
    factors.back().rows = std::move(rows);
  }
  return factors;
}

Model::Trace Model::forward(const Derived& derived, const Batch& part,
                            const std::vector<Scores>& scores) const {
  const Index d = options_.stream(), n = part.n;
  Trace trace;
  trace.layers.resize(options_.layers);
  Matrix<float> x = fused_rows(options_, derived.tables, part);
  for (int l = 0; l < options_.layers; ++l) {
    Layer& layer = trace.layers[l];
    layer.input = normalize(x);
    layer.values = times(layer.input.rows, derived.W_qkv[l].rightCols(d));
    if (scores_read_sum()) layer.sum = normalize(x + position_rows(options_, derived.tables, part));
    const Normalized& scored = scores_read_sum() ? layer.sum : layer.input;
    if (scores[l].factors == Scores::input) layer.factors.push_back(factor(derived, l, scored.rows, n));
    if (scores[l].factors == Scores::parts) layer.factors = part_factors(derived, part, scored);
    attend(derived, scores[l], n, layer);
    add_times(layer.mixed, derived.W_o[l], x);
  }
  trace.output = normalize(x);
  trace.logits = times(trace.output.rows, derived.W_u);
  return trace;
}

// For each sequence and head: scores, their softmax, and the values mixed by it.
void Model::attend(const Derived& derived, const Scores& scores, Index n, Layer& layer) const {
  const Index d = options_.stream(), heads = options_.heads, width = options_.d_head();
  const Index sequences = layer.values.rows() / n;
  layer.weights = (scores.biased ? derived.bias : derived.mask).replicate(sequences, 1);
  layer.mixed.resize(layer.values.rows(), d);
  const auto each = [&](const auto& visit) {
    for (Index s = 0; s < sequences; ++s) {
      for (Index h = 0; h < heads; ++h) visit(s, h, layer.weights.middleRows((s * heads + h) * n, n));
    }
  };
  each([&](Index s, Index h, auto head_scores) {
    for (const auto& [query, key] : scores.products) {
      add_times(layer.factors[query].queries_keys.block(s * n, h * width, n, width),
                layer.factors[key].transposed_keys.middleRows(s * d + h * width, width), head_scores);
    }
  });
  softmax(block_of(layer.weights), layer.weights.rows(), n);
  each([&](Index s, Index h, auto weights) {
    set_times(weights, layer.values.block(s * n, h * width, n, width),
              layer.mixed.block(s * n, h * width, n, width));
  });
}

// Returns the gradient with respect to the values, given that with respect to the mixed values. Writes the
// gradients of the factors' queries and keys, and adds the gradient of the bias to d_bias.
Matrix<float> Model::attend_backward(const Scores& scores, const Matrix<float>& d_mixed, Index n,
                                     Layer& layer, Matrix<float>& d_bias) const {
  const Index d = options_.stream(), heads = options_.heads, width = options_.d_head();
  const Index count = layer.values.rows(), sequences = count / n;
  const Matrix<float> transposed_values = transposed_by_sequence(layer.values, 0, n);
  Matrix<float> d_values(count, d), d_weights(layer.weights.rows(), n);
  const auto each = [&](const auto& visit) {
    for (Index s = 0; s < sequences; ++s) {
      for (Index h = 0; h < heads; ++h) visit(s, h, (s * heads + h) * n);
    }
  };
  each([&](Index s, Index h, Index first) {
    const auto d_out = d_mixed.block(s * n, h * width, n, width);
    set_transposed_times(layer.weights.middleRows(first, n), d_out,
                         d_values.block(s * n, h * width, n, width));
    set_times(d_out, transposed_values.middleRows(s * d + h * width, width), d_weights.middleRows(first, n));
  });
  if (scores.products.empty() && !scores.biased) return d_values;

  const Vector<float> mean = row_dots(layer.weights, d_weights);
  const Matrix<float> d_scores = layer.weights.cwiseProduct(d_weights.colwise() - mean);
  if (scores.biased) {
    for (Index s = 0; s < sequences; ++s) d_bias += d_scores.middleRows(s * heads * n, heads * n);
  }
  for (Factor& factor : layer.factors) factor.d_queries_keys.setZero(count, 2 * d);
  each([&](Index s, Index h, Index first) {
    const auto d_head = d_scores.middleRows(first, n);
    const Index row = s * n, query = h * width, key = d + h * width;
    for (const auto& [left, right] : scores.products) {
      Factor &of_query = layer.factors[left], &of_key = layer.factors[right];
      add_times(d_head, of_key.queries_keys.block(row, key, n, width),
                of_query.d_queries_keys.block(row, query, n, width));
      add_transposed_times(d_head, of_query.queries_keys.block(row, query, n, width),
                           of_key.d_queries_keys.block(row, key, n, width));
    }
  });
  if (options_.scheme == TrainingScheme::rope) {
    for (Factor& factor : layer.factors) rotate(factor.d_queries_keys, n, -1);
  }
  return d_values;
}

// Returns the gradient with respect to the rows of a factor, and adds that of the weights to d_derived.
Matrix<float> Model::factor_backward(const Derived& derived, int layer, const Matrix<float>& rows,
                                     const Factor& factor, Derived& d_derived) const {
  const Index width = factor.d_queries_keys.cols();
  add_transposed_times(rows, factor.d_queries_keys, d_derived.W_qkv[layer].leftCols(width));
  return times_transposed(factor.d_queries_keys, derived.W_qkv[layer].leftCols(width));
}

// Given the gradients of both parts' queries and keys, adds those of weights and tables to d_derived. Returns
// the gradient with respect to the sum of the parts, which arises through their common sigma.
Matrix<float> Model::part_factors_backward(const Derived& derived, const Batch& part,
                                           const std::vector<Factor>& factors, const Normalized& sum,
                                           Derived& d_derived) const {
  const Index d = options_.stream(), count = sum.rows.rows();
  Vector<float> along = Vector<float>::Zero(count);
  for (int k : {0, 1}) {
    Matrix<float> d_rows = factor_backward(derived, 0, factors[k].rows, factors[k], d_derived);
    if (options_.layer_norm) {
      along += row_dots(d_rows, factors[k].rows);
      d_rows = (sum.inverse.asDiagonal() * minus_row_means(d_rows)).eval();
    }
    if (k == 0) {
      add_token_rows_gradient(options_, part, d_rows, d_derived.tables);
    } else {
      add_position_rows_gradient(options_, part, d_rows, d_derived.tables);
    }
  }
  if (!options_.layer_norm) return Matrix<float>::Zero(count, d);
  const Vector<float> shrink = along.cwiseProduct(sum.inverse) / static_cast<float>(-d);
  return shrink.asDiagonal() * sum.rows;
}

// Adds the gradient of the derived values, given the gradient with respect to the logits, in trace.logits.
void Model::backward(const Derived& derived, const Batch& part, const std::vector<Scores>& scores,
                     Trace& trace, Derived& d_derived) const {
  const Index d = options_.stream(), n = part.n;
  add_transposed_times(trace.output.rows, trace.logits, d_derived.W_u);
  Matrix<float> dx = normalize_backward(trace.output, times_transposed(trace.logits, derived.W_u));

  for (int l = options_.layers - 1; l >= 0; --l) {
    Layer& layer = trace.layers[l];
    const Scores::Factors factors = scores[l].factors;
    add_transposed_times(layer.mixed, dx, d_derived.W_o[l]);
    const Matrix<float> d_values =
        attend_backward(scores[l], times_transposed(dx, derived.W_o[l]), n, layer, d_derived.bias);

    // Through queries, keys and values to the rows that they read.
    const Normalized& scored = scores_read_sum() ? layer.sum : layer.input;
    Matrix<float> d_scored = factors == Scores::input
                                 ? factor_backward(derived, l, scored.rows, layer.factors[0], d_derived)
                                 : Matrix<float>::Zero(d_values.rows(), d);
    Matrix<float> d_input = Matrix<float>::Zero(d_values.rows(), d);
    if (!scores_read_sum()) d_input.swap(d_scored);
    add_transposed_times(layer.input.rows, d_values, d_derived.W_qkv[l].rightCols(d));
    add_times(d_values, transposed(derived.W_qkv[l].rightCols(d)), d_input);

    // Through the norms, to x and to x + p. Recorded runs depend on the order of these sums.
    d_input = normalize_backward(layer.input, d_input);
    if (scores_read_sum()) {
      Matrix<float> d_sum = normalize_backward(layer.sum, d_scored);
      if (factors == Scores::parts)
        d_sum += part_factors_backward(derived, part, layer.factors, layer.sum, d_derived);
      add_position_rows_gradient(options_, part, d_sum, d_derived.tables);
      dx += d_input + d_sum;
    } else {
      dx += d_input;
      if (factors == Scores::parts)
        dx += part_factors_backward(derived, part, layer.factors, layer.input, d_derived);
    }
  }
  add_rows_gradient(options_, derived.tables, part, dx, d_derived.tables);
}

// Adds the gradient of the parameters, given the gradient of the derived values.
void Model::add_gradient(const Parameters& parameters, Derived& d_derived, Parameters& gradient) const {
  for (int l = 0; l < options_.layers; ++l) {
    d_derived.W_qkv[l].leftCols(options_.stream()) *= options_.score_scale();
    add_gain_gradient(parameters.layers[l].g1, parameters.layers[l].W_qkv, d_derived.W_qkv[l],
                      gradient.layers[l].g1, gradient.layers[l].W_qkv);
    gradient.layers[l].W_o += d_derived.W_o[l];
  }
  add_gain_gradient(parameters.gf, parameters.W_u, d_derived.W_u, gradient.gf, gradient.W_u);
  add_tables_gradient(options_, parameters, d_derived.tables, gradient);
  add_bias_gradient(options_, parameters, d_derived.bias, gradient);
}

double Model::loss_and_gradient(const Parameters& parameters, const Batch& batch, Parameters& gradient,
                                const Terms& terms) const {
  const auto total = static_cast<double>(
      std::count_if(batch.targets, batch.targets + batch.places(), [](int target) { return target >= 0; }));
  const Derived derived = derive(parameters, batch.n);
  const std::vector<Scores> scores = choose_scores(terms);
  for (const NamedParameter& parameter : named_parameters(options_, gradient)) parameter.values->setZero();
  // `gradient` is zero here, so everything derived from it is too, except the mask and fixed biases in
  // `bias`.
  Derived d_derived = derive(gradient, batch.n);
  d_derived.bias.setZero();
  double loss = 0;
  each_part(batch, [&](const Batch& part) {
    Trace trace = forward(derived, part, scores);
    loss += cross_entropy(trace.logits, part.targets, total);
    backward(derived, part, scores, trace, d_derived);
  });
  add_gradient(parameters, d_derived, gradient);
  return loss / total;
}

// The rows that rows_of() returns for each part's trace, below each other.
template <typename RowsOf>
Matrix<float> Model::rows_of_all(const Parameters& parameters, const Batch& batch, const Terms& terms,
                                 const RowsOf& rows_of) const {
  const Derived derived = derive(parameters, batch.n);
  const std::vector<Scores> scores = choose_scores(terms);
  Matrix<float> all;
  Index at = 0;
  each_part(batch, [&](const Batch& part) {
    const Matrix<float> rows = rows_of(forward(derived, part, scores));
    if (at == 0) all.resize(rows.rows() / part.sequences * batch.sequences, rows.cols());
    all.middleRows(at, rows.rows()) = rows;
    at += rows.rows();
  });
  return all;
}

Matrix<float> Model::logits(const Parameters& parameters, const Batch& batch, const Terms& terms) const {
  return rows_of_all(parameters, batch, terms, [](const Trace& trace) { return trace.logits; });
}

Matrix<float> Model::attention(const Parameters& parameters, const Batch& batch, int layer,
                               const Terms& terms) const {
  return rows_of_all(parameters, batch, terms,
                     [&](const Trace& trace) { return trace.layers[layer].weights; });
}

Evaluation Model::evaluate(const Parameters& parameters, const Batch& batch, const Terms& terms) const {
  const Derived derived = derive(parameters, batch.n);
  const std::vector<Scores> scores = choose_scores(terms);
  Evaluation evaluation;
  each_part(batch, [&](const Batch& part) {
    Matrix<float> logits = forward(derived, part, scores).logits;
    for (Index i = 0; i < logits.rows(); ++i) {
      if (part.targets[i] < 0) continue;
      Index largest;
      logits.row(i).maxCoeff(&largest);
      ++evaluation.targets;
      evaluation.right += largest == part.targets[i];
    }
    evaluation.loss += cross_entropy(logits, part.targets, 1);
  });
  evaluation.loss /= evaluation.targets;
  return evaluation;
}

TermCovariances Model::term_covariances(const Parameters& parameters, const Batch& batch, const Terms& terms,
                                        GaugeKind gauge) const {
  const Index n = batch.n, d = options_.stream(), heads = options_.heads, width = options_.d_head();
  const Derived derived = derive(parameters, n);
  // One term of a head in a sequence, [n, n]; empty where a scheme lacks it.
  const auto term = [&](const std::vector<Factor>& factors, int t, Index s, Index h) -> Matrix<float> {
    const auto product = [&](const Factor& query, const Factor& key) {
      return times_transposed(query.queries_keys.block(s * n, h * width, n, width),
                              key.queries_keys.block(s * n, d + h * width, n, width));
    };
    if (options_.sums()) return product(factors[t / 2], factors[t % 2]);
    if (t == token_token) return product(factors[0], factors[0]);
    if (t == position_position) return derived.bias.middleRows(h * n, n);
    return {};
  };
  TermCovariances all{Matrix<double>(batch.sequences * heads, kTermCount),
                      Vector<double>(batch.sequences * heads)};
  Index row = 0;
  each_part(batch, [&](const Batch& part) {
    Matrix<float> x = fused_rows(options_, derived.tables, part);
    if (scores_read_sum()) x += position_rows(options_, derived.tables, part);
    const Normalized sum = normalize(x);
    std::vector<Factor> raw;
    if (options_.sums()) {
      raw = part_factors(derived, part, sum);
    } else {
      raw.push_back(factor(derived, 0, sum.rows, n));
    }
    std::vector<Factor> gauged = raw;
    const Vector<double> sigma = sum.inverse.cast<double>().cwiseInverse();
    for (Index s = 0; gauge == GaugeKind::canonical && s < part.sequences; ++s) {
      const GaugeRows rows{sigma.segment(s * n, n), {}, true};
      for (Factor& factor : gauged)
        move_mean_into_constant(rows, 2 * d, &factor.queries_keys(s * n, 0), nullptr);
    }
    for (Index s = 0; s < part.sequences; ++s) {
      for (Index h = 0; h < heads; ++h, ++row) {
        // Scores are the sum of the raw terms in any gauge.
        Matrix<float> scores = Matrix<float>::Zero(n, n), stack = Matrix<float>::Zero(kTermCount * n, n);
        for (int t = 0; t < kTermCount; ++t) {
          const Matrix<float> of_scores = terms[t] ? term(raw, t, s, h) : Matrix<float>();
          if (of_scores.size() == 0) continue;
          scores += of_scores;
          stack.middleRows(t * n, n) = term(gauged, t, s, h);
        }
        const Covariances head =
            row_centred_covariances(stack.data(), kTermCount, scores.data(), n, {{}, options_.causal});
        all.terms.row(row) = head.terms.transpose();
        all.scores[row] = head.logits;
      }
    }
  });
  return all;
}

}  // namespace superpose
