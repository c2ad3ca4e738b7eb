#include "training/model.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "encodings/rotary.h"
#include "numeric/centred.h"
#include "training/product.h"

namespace superpose {

using Eigen::Index;

// What parameters make once for all parts of a batch; and, by the same names, the gradient of that.
struct Model::Made {
  Tables tables;
  // Weights times the gain of the LayerNorm before them: W_qkv of each layer, its queries also times the scores' scale,
  // and W_u. W_o has none.
  std::vector<Matrix<float>> qkv, o;
  Matrix<float> unembedding;
  // Added to all scores, [H n, n]: a mask, and positions' own part. The first layer has one of its own where that part is cut.
  Matrix<float> bias, first_bias;
};

// Tokens and positions apart, each normalized by the size of both together; their queries and keys [count, 2D], keys
// also transposed by sequence, [sequences D, n]; and the gradients of queries and keys.
struct Model::Parts {
  std::array<Matrix<float>, 2> rows, queries_keys, turned, d_queries_keys;
};

// What forward() leaves of a layer.
struct Model::Layer {
  Normed read, summed;    // what values read, and what queries and keys do where that is x + p
  Matrix<float> qkv;      // [count, 3D]
  Matrix<float> turned;   // keys and values transposed by sequence, [sequences 2D, n]
  Matrix<float> weights;  // [sequences H n, n]
  Matrix<float> mixed;    // values, by these weights
};

struct Model::Trace {
  std::vector<Layer> layers;
  std::optional<Parts> parts;
  Normed out;
  Matrix<float> logits;
};

namespace {

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
Matrix<float> turned_by_sequence(const Matrix<float>& rows, Index first, Index n) {
  const Index columns = rows.cols() - first, sequences = rows.rows() / n;
  Matrix<float> turned(sequences * columns, n);
  for (Index s = 0; s < sequences; ++s)
    transpose<float>({&rows(s * n, first), rows.cols()}, n, columns, {&turned(s * columns, 0), n});
  return turned;
}

// Parts of about this many tokens, in whole sequences.
constexpr Index kPart = 64;

template <typename Visit>
void each_part(const Batch& batch, const Visit& visit) {
  const int most = std::max<int>(1, kPart / batch.n);
  for (int s = 0; s < batch.sequences; s += most)
    visit(Batch{std::min(most, batch.sequences - s), batch.n, batch.tokens + s * batch.n,
                batch.targets ? batch.targets + s * batch.n : nullptr});
}

// The sum of the rows' losses. Replaces the logits by the gradient of the sum over `total`, with zeros in rows without a
// target.
double cross_entropy(Matrix<float>& logits, const int* targets, double total) {
  double loss = 0;
  for (Index i = 0; i < logits.rows(); ++i) {
    auto row = logits.row(i);
    if (targets[i] < 0) {
      row.setZero();
      continue;
    }
    const float aim = row[targets[i]];
    const auto [most, whole] = to_exponentials(row.data(), logits.cols());
    loss += std::log(static_cast<double>(whole)) + (static_cast<double>(most) - aim);
    row *= static_cast<float>(1 / (whole * total));
    row[targets[i]] -= static_cast<float>(1 / total);
  }
  return loss;
}

}  // namespace

Model::Model(const ModelOptions& options) : options_(options) {
  if (options.scheme == TrainingScheme::rope) {
    const RotaryAngles<float> angles =
        rotary_angles<float>(options.positions, turning(options.d_head(), {1, Layout::interleaved}));
    cosines_ = angles.cosines, sines_ = angles.sines;
  }
}

Model::Made Model::make(const Parameters& of, Index n, const Terms& kept) const {
  Made made;
  made.tables = tables(options_, of, n);
  for (const LayerParameters& layer : of.layers) {
    made.qkv.push_back(with_gain(layer.g1, layer.W_qkv));
    made.qkv.back().leftCols(options_.stream()) *= options_.score_scale();
    made.o.push_back(layer.W_o);
  }
  made.unembedding = with_gain(of.gf, of.W_u);
  made.bias = mask_and_bias(options_, of, n, true);
  if (!kept[position_position]) made.first_bias = mask_and_bias(options_, of, n, false);
  return made;
}

Normed Model::read(const Matrix<float>& x) const {
  return options_.layer_norm ? layer_norm(x) : Normed{x, Vector<float>::Ones(x.rows())};
}

// The gradient with respect to x, given that with respect to what is read of it.
Matrix<float> Model::read_backward(const Normed& of, const Matrix<float>& gradient) const {
  return options_.layer_norm ? layer_norm_backward(of, gradient) : gradient;
}

// RoPE: channels (2k, 2k + 1) of every head of queries and keys; direction -1 turns gradients back.
void Model::turn(Matrix<float>& qkv, Index n, float direction) const {
  const Index d = options_.stream(), width = options_.d_head();
  for (Index r = 0; r < qkv.rows(); ++r) {
    for (Index first = 0; first < 2 * d; first += width)
      rotate_head<float>(&qkv(r, first), width / 2, Layout::interleaved, &cosines_(r % n, 0),
                         &sines_(r % n, 0), direction);
  }
}

Model::Trace Model::forward(const Made& made, const Batch& part, const Terms& kept) const {
  const Index d = options_.stream(), n = part.n;
  Trace trace;
  trace.layers.resize(options_.layers);
  Matrix<float> x = fused_rows(options_, made.tables, part);
  for (int l = 0; l < options_.layers; ++l) {
    Layer& layer = trace.layers[l];
    layer.read = read(x);
    layer.qkv = times(layer.read.rows, made.qkv[l]);
    if (reads_sum()) {
      layer.summed = read(x + position_rows(options_, made.tables, part));
      set_times(layer.summed.rows, made.qkv[l].leftCols(2 * d), layer.qkv.leftCols(2 * d));
    }
    if (options_.scheme == TrainingScheme::rope) turn(layer.qkv, n, 1);
    // A cut is for the first layer alone.
    const bool first = l == 0;
    if (first && splits(kept)) trace.parts = split(made, part, reads_sum() ? layer.summed : layer.read);
    attend(layer, first && made.first_bias.size() ? made.first_bias : made.bias, n,
           first && trace.parts ? &*trace.parts : nullptr, first ? kept : kAllTerms);
    add_times(layer.mixed, made.o[l], x);
  }
  trace.out = read(x);
  trace.logits = times(trace.out.rows, made.unembedding);
  return trace;
}

// For each sequence and head: scores q k' + bias, their softmax, and the values mixed by it.
void Model::attend(Layer& layer, const Matrix<float>& bias, Index n, const Parts* parts,
                   const Terms& kept) const {
  const Index d = options_.stream(), heads = options_.heads, width = options_.d_head();
  const Index sequences = layer.qkv.rows() / n;
  layer.turned = turned_by_sequence(layer.qkv, d, n);
  layer.weights = bias.replicate(sequences, 1);
  layer.mixed.resize(layer.qkv.rows(), d);
  const auto each = [&](const auto& visit) {
    for (Index s = 0; s < sequences; ++s)
      for (Index h = 0; h < heads; ++h) visit(s, h, layer.weights.middleRows((s * heads + h) * n, n));
  };
  each([&](Index s, Index h, auto scores) {
    for (int t = 0; parts && t < kTermCount; ++t) {
      if (kept[t])
        add_times(parts->queries_keys[t / 2].block(s * n, h * width, n, width),
                  parts->turned[t % 2].middleRows(s * d + h * width, width), scores);
    }
    if (!parts && kept[token_token] && !options_.zero_scores)
      add_times(layer.qkv.block(s * n, h * width, n, width),
                layer.turned.middleRows(2 * s * d + h * width, width), scores);
  });
  softmax(block_of(layer.weights), layer.weights.rows(), n);
  each([&](Index s, Index h, auto weights) {
    set_times(weights, layer.qkv.block(s * n, 2 * d + h * width, n, width),
              layer.mixed.block(s * n, h * width, n, width));
  });
}

// The gradient with respect to queries, keys and values; those of parts' queries and keys, and of the bias, are added.
Matrix<float> Model::attend_backward(const Layer& layer, const Matrix<float>& d_mixed, Index n, Parts* parts,
                                     const Terms& kept, Matrix<float>& d_bias) const {
  const Index d = options_.stream(), heads = options_.heads, width = options_.d_head();
  const Index sequences = layer.qkv.rows() / n;
  Matrix<float> d_qkv = Matrix<float>::Zero(layer.qkv.rows(), 3 * d);
  Matrix<float> d_weights(layer.weights.rows(), n);
  const auto each = [&](const auto& visit) {
    for (Index s = 0; s < sequences; ++s)
      for (Index h = 0; h < heads; ++h) visit(s, h, (s * heads + h) * n);
  };
  each([&](Index s, Index h, Index first) {
    const auto d_out = d_mixed.block(s * n, h * width, n, width);
    set_transposed_times(layer.weights.middleRows(first, n), d_out,
                         d_qkv.block(s * n, 2 * d + h * width, n, width));
    set_times(d_out, layer.turned.middleRows((2 * s + 1) * d + h * width, width),
              d_weights.middleRows(first, n));
  });
  if (options_.zero_scores) return d_qkv;
  const Vector<float> mean = row_dots(layer.weights, d_weights);
  const Matrix<float> d_scores = layer.weights.cwiseProduct(d_weights.colwise() - mean);
  if (kept[position_position])
    for (Index s = 0; s < sequences; ++s) d_bias += d_scores.middleRows(s * heads * n, heads * n);
  each([&](Index s, Index h, Index first) {
    const auto of = d_scores.middleRows(first, n);
    const auto add = [&](const Matrix<float>& queries, const Matrix<float>& keys, Matrix<float>& d_queries,
                         Matrix<float>& d_keys) {
      const Index row = s * n, query = h * width, key = d + h * width;
      add_times(of, keys.block(row, key, n, width), d_queries.block(row, query, n, width));
      add_transposed_times(of, queries.block(row, query, n, width), d_keys.block(row, key, n, width));
    };
    for (int t = 0; parts && t < kTermCount; ++t) {
      if (kept[t])
        add(parts->queries_keys[t / 2], parts->queries_keys[t % 2], parts->d_queries_keys[t / 2],
            parts->d_queries_keys[t % 2]);
    }
    if (!parts && kept[token_token]) add(layer.qkv, layer.qkv, d_qkv, d_qkv);
  });
  return d_qkv;
}

// Splits what the first layer's queries and keys read into tokens and positions.
Model::Parts Model::split(const Made& made, const Batch& part, const Normed& summed) const {
  const Index d = options_.stream();
  Parts parts{
      {token_rows(options_, made.tables, part), position_rows(options_, made.tables, part)}, {}, {}, {}};
  for (int k : {0, 1}) {
    Matrix<float>& rows = parts.rows[k];
    if (options_.layer_norm) rows = summed.inverse.asDiagonal() * row_less_mean(rows);
    parts.queries_keys[k] = times(rows, made.qkv[0].leftCols(2 * d));
    parts.turned[k] = turned_by_sequence(parts.queries_keys[k], d, part.n);
    parts.d_queries_keys[k] = Matrix<float>::Zero(rows.rows(), 2 * d);
  }
  return parts;
}

// From the gradients of the queries and keys of both parts to those of weights and tables. What comes from their common
// size is returned: the gradient with respect to their sum.
Matrix<float> Model::split_backward(const Made& made, const Batch& part, const Parts& parts,
                                    const Normed& summed, Made& d_made) const {
  const Index d = options_.stream(), count = summed.rows.rows();
  Vector<float> along = Vector<float>::Zero(count);
  for (int k : {0, 1}) {
    const Matrix<float>& rows = parts.rows[k];
    add_transposed_times(rows, parts.d_queries_keys[k], d_made.qkv[0].leftCols(2 * d));
    Matrix<float> d_rows = times_transposed(parts.d_queries_keys[k], made.qkv[0].leftCols(2 * d));
    if (options_.layer_norm) {
      along += row_dots(d_rows, rows);
      d_rows = (summed.inverse.asDiagonal() * row_less_mean(d_rows)).eval();
    }
    if (k == 0)
      add_token_rows_gradient(options_, part, d_rows, d_made.tables);
    else
      add_position_rows_gradient(options_, part, d_rows, d_made.tables);
  }
  if (!options_.layer_norm) return Matrix<float>::Zero(count, d);
  const Vector<float> shrink = along.cwiseProduct(summed.inverse) / static_cast<float>(-d);
  return shrink.asDiagonal() * summed.rows;
}

// From the gradient with respect to the logits, in trace.logits, to that of what parameters made.
void Model::backward(const Made& made, const Batch& part, Trace& trace, const Terms& kept,
                     Made& d_made) const {
  const Index d = options_.stream(), n = part.n;
  add_transposed_times(trace.out.rows, trace.logits, d_made.unembedding);
  Matrix<float> dx = read_backward(trace.out, times_transposed(trace.logits, made.unembedding));

  for (int l = options_.layers - 1; l >= 0; --l) {
    const Layer& layer = trace.layers[l];
    Parts* const parts = l == 0 && trace.parts ? &*trace.parts : nullptr;
    add_transposed_times(layer.mixed, dx, d_made.o[l]);
    Matrix<float> d_qkv = attend_backward(layer, times_transposed(dx, made.o[l]), n, parts,
                                          l == 0 ? kept : kAllTerms, d_made.bias);
    if (options_.scheme == TrainingScheme::rope) turn(d_qkv, n, -1);
    // Through columns of queries, keys and values to what they read.
    const auto through = [&](const Normed& of, Index first, Index columns) {
      const auto d_columns = d_qkv.middleCols(first, columns);
      add_transposed_times(of.rows, d_columns, d_made.qkv[l].middleCols(first, columns));
      return read_backward(of, times_transposed(d_columns, made.qkv[l].middleCols(first, columns)));
    };
    if (!reads_sum()) {
      dx += through(layer.read, 0, 3 * d);
      if (parts) dx += split_backward(made, part, *parts, layer.read, d_made);
      continue;
    }
    Matrix<float> d_sum = through(layer.summed, 0, 2 * d);
    if (parts) d_sum += split_backward(made, part, *parts, layer.summed, d_made);
    dx += through(layer.read, 2 * d, d) + d_sum;
    add_position_rows_gradient(options_, part, d_sum, d_made.tables);
  }
  add_rows_gradient(options_, made.tables, part, dx, d_made.tables);
}

// From the gradient of what parameters made to that of parameters.
void Model::add_gradient(const Parameters& of, Made& d_made, Parameters& gradient) const {
  for (int l = 0; l < options_.layers; ++l) {
    d_made.qkv[l].leftCols(options_.stream()) *= options_.score_scale();
    add_gain_gradient(of.layers[l].g1, of.layers[l].W_qkv, d_made.qkv[l], gradient.layers[l].g1,
                      gradient.layers[l].W_qkv);
    gradient.layers[l].W_o += d_made.o[l];
  }
  add_gain_gradient(of.gf, of.W_u, d_made.unembedding, gradient.gf, gradient.W_u);
  add_tables_gradient(options_, of, d_made.tables, gradient);
  add_bias_gradient(options_, of, d_made.bias, gradient);
}

double Model::loss_and_gradient(const Parameters& of, const Batch& batch, Parameters& gradient,
                                const Terms& kept) const {
  const auto total = static_cast<double>(
      std::count_if(batch.targets, batch.targets + batch.places(), [](int target) { return target >= 0; }));
  const Made made = make(of, batch.n, kept);
  for (const Named& each : named(options_, gradient)) each.values->setZero();
  // Zeros make zeros, but for the bias.
  Made d_made = make(gradient, batch.n, kAllTerms);
  d_made.bias.setZero();
  double loss = 0;
  each_part(batch, [&](const Batch& part) {
    Trace trace = forward(made, part, kept);
    loss += cross_entropy(trace.logits, part.targets, total);
    backward(made, part, trace, kept, d_made);
  });
  add_gradient(of, d_made, gradient);
  return loss / total;
}

// Rows that `rows_of` a part's trace has, below each other.
template <typename RowsOf>
Matrix<float> Model::rows_of_all(const Parameters& of, const Batch& batch, const Terms& kept,
                                 const RowsOf& rows_of) const {
  const Made made = make(of, batch.n, kept);
  Matrix<float> all;
  Index at = 0;
  each_part(batch, [&](const Batch& part) {
    const Matrix<float> rows = rows_of(forward(made, part, kept));
    if (at == 0) all.resize(rows.rows() / part.sequences * batch.sequences, rows.cols());
    all.middleRows(at, rows.rows()) = rows;
    at += rows.rows();
  });
  return all;
}

Matrix<float> Model::logits(const Parameters& of, const Batch& batch, const Terms& kept) const {
  return rows_of_all(of, batch, kept, [](const Trace& trace) { return trace.logits; });
}

Matrix<float> Model::attention(const Parameters& of, const Batch& batch, int layer, const Terms& kept) const {
  return rows_of_all(of, batch, kept, [&](const Trace& trace) { return trace.layers[layer].weights; });
}

Evaluation Model::evaluate(const Parameters& of, const Batch& batch, const Terms& kept) const {
  const Made made = make(of, batch.n, kept);
  Evaluation all;
  each_part(batch, [&](const Batch& part) {
    Matrix<float> logits = forward(made, part, kept).logits;
    for (Index i = 0; i < logits.rows(); ++i) {
      if (part.targets[i] < 0) continue;
      Index largest;
      logits.row(i).maxCoeff(&largest);
      ++all.targets;
      all.right += largest == part.targets[i];
    }
    all.loss += cross_entropy(logits, part.targets, 1);
  });
  all.loss /= all.targets;
  return all;
}

namespace {

// Subtracts from queries and keys of one part what the canonical gauge calls constant: the part becomes
// q(i) - m / sigma_i, which sums to zero over a sequence. m is linear in the part, so it can be subtracted after
// projection.
void move_means_into_constant(Matrix<float>& queries_keys, const Vector<float>& inverse, Index n) {
  for (Index first = 0; first < queries_keys.rows(); first += n) {
    auto rows = queries_keys.middleRows(first, n);
    const Vector<double> sizes = inverse.segment(first, n).cast<double>();
    const Matrix<double> mean = rows.cast<double>().colwise().sum() / sizes.sum();
    rows -= (sizes * mean).cast<float>();
  }
}

// Adds the covariances of terms with their scores, [n, n] each, over the keys that each query may read.
void add_covariances(const Matrix<float>& scores, const std::array<Matrix<float>, kTermCount>& terms,
                     bool causal, TermCovariances& head) {
  const Index n = scores.rows();
  for (Index i = 0; i < n; ++i) {
    const Index keys = causal ? i + 1 : n;
    const auto centred = [&](const Matrix<float>& of) {
      const Vector<double> row = of.row(i).head(keys).transpose().cast<double>();
      return Vector<double>(row.array() - row.mean());
    };
    const Vector<double> score = centred(scores);
    head.scores += score.squaredNorm();
    for (int t = 0; t < kTermCount; ++t) {
      if (terms[t].size() == 0) continue;
      head.terms[t] += centred(terms[t]).dot(score);
      head.largest =
          std::max(head.largest, static_cast<double>(terms[t].row(i).head(keys).cwiseAbs().maxCoeff()));
    }
  }
}

}  // namespace

std::vector<TermCovariances> Model::term_covariances(const Parameters& of, const Batch& batch,
                                                     const Terms& kept, GaugeKind gauge) const {
  const Index n = batch.n, d = options_.stream(), width = options_.d_head();
  const bool tupe = options_.scheme == TrainingScheme::tupe;
  const Made made = make(of, n, kAllTerms);
  // q k' of a head in a sequence.
  const auto score = [&](const Matrix<float>& queries, const Matrix<float>& keys, Index s, Index h) {
    return times_transposed(queries.block(s * n, h * width, n, width),
                            keys.block(s * n, d + h * width, n, width));
  };
  std::vector<TermCovariances> heads(options_.heads);
  each_part(batch, [&](const Batch& part) {
    Matrix<float> x = fused_rows(options_, made.tables, part);
    if (reads_sum()) x += position_rows(options_, made.tables, part);
    const Normed summed = read(x);
    const Matrix<float> queries_keys = times(summed.rows, made.qkv[0].leftCols(2 * d));
    const Parts parts = tupe ? Parts() : split(made, part, summed);
    Parts moved = parts;
    if (gauge == GaugeKind::canonical)
      for (Matrix<float>& one : moved.queries_keys) move_means_into_constant(one, summed.inverse, n);
    const auto terms = [&](const Parts& of, Index s, Index h) {
      std::array<Matrix<float>, kTermCount> found;
      for (int t = 0; t < kTermCount; ++t) {
        if (!kept[t]) continue;
        if (!tupe) found[t] = score(of.queries_keys[t / 2], of.queries_keys[t % 2], s, h);
        if (tupe && t == token_token) found[t] = score(queries_keys, queries_keys, s, h);
        if (tupe && t == position_position) found[t] = made.bias.middleRows(h * n, n);
      }
      return found;
    };
    for (Index s = 0; s < part.sequences; ++s) {
      for (Index h = 0; h < options_.heads; ++h) {
        Matrix<float> scores = Matrix<float>::Zero(n, n);
        for (const Matrix<float>& term : terms(parts, s, h))
          if (term.size() > 0) scores += term;
        add_covariances(scores, terms(moved, s, h), options_.causal, heads[h]);
      }
    }
  });
  // Scores that should be equal differ by rounding, which must not count as variation.
  for (TermCovariances& head : heads) {
    const double noise = rounding_of<float>(head.largest, n);
    if (head.scores <= noise * noise * batch.sequences) head = TermCovariances();
  }
  return heads;
}

}  // namespace superpose
