#include "training/fusion.h"

#include <cmath>
#include <vector>

#include "encodings/relative_position.h"
#include "training/product.h"

namespace superpose {

using Eigen::Index;

Tables tables(const ModelOptions& options, const Parameters& of, Index n) {
  const auto scale = static_cast<float>(options.token_scale());
  Tables made{scale * of.E, of.P.topRows(options.has_table() ? n : 0)};
  if (options.scheme == TrainingScheme::project) {
    made.tokens = times(made.tokens, of.W_f.topRows(options.d_model));
    made.positions = times(made.positions, of.W_f.bottomRows(options.d_model));
  }
  return made;
}

void add_tables_gradient(const ModelOptions& options, const Parameters& of, const Tables& d_tables,
                         Parameters& gradient) {
  const auto scale = static_cast<float>(options.token_scale());
  Matrix<float> d_tokens = scale * d_tables.tokens, d_positions = d_tables.positions;
  const Index n = d_positions.rows();
  if (options.scheme == TrainingScheme::project) {
    const Index d = options.d_model;
    add_transposed_times(of.E, d_tokens, gradient.W_f.topRows(d));
    add_transposed_times(of.P.topRows(n), d_positions, gradient.W_f.bottomRows(d));
    d_tokens = times_transposed(d_tokens, of.W_f.topRows(d));
    d_positions = times_transposed(d_positions, of.W_f.bottomRows(d));
  }
  if (options.trains_tokens()) gradient.E += d_tokens;
  if (options.trains_positions()) gradient.P.topRows(n) += d_positions;
}

Matrix<float> token_rows(const ModelOptions& options, const Tables& of, const Batch& batch) {
  Matrix<float> rows = Matrix<float>::Zero(batch.places(), options.stream());
  for (Index r = 0; r < rows.rows(); ++r)
    rows.row(r).head(options.d_token()) = of.tokens.row(batch.tokens[r]);
  return rows;
}

Matrix<float> position_rows(const ModelOptions& options, const Tables& of, const Batch& batch) {
  Matrix<float> rows = Matrix<float>::Zero(batch.places(), options.stream());
  for (int s = 0; s < batch.sequences; ++s)
    rows.block(s * batch.n, options.stream() - options.position_channels(), batch.n,
               options.position_channels()) = of.positions;
  return rows;
}

void add_token_rows_gradient(const ModelOptions& options, const Batch& batch, const Matrix<float>& d_rows,
                             Tables& d_tables) {
  for (Index r = 0; r < d_rows.rows(); ++r)
    d_tables.tokens.row(batch.tokens[r]) += d_rows.row(r).head(options.d_token());
}

void add_position_rows_gradient(const ModelOptions& options, const Batch& batch, const Matrix<float>& d_rows,
                                Tables& d_tables) {
  for (int s = 0; s < batch.sequences; ++s)
    d_tables.positions += d_rows.block(s * batch.n, options.stream() - options.position_channels(), batch.n,
                                       options.position_channels());
}

Matrix<float> fused_rows(const ModelOptions& options, const Tables& of, const Batch& batch) {
  Matrix<float> rows = token_rows(options, of, batch);
  if (options.in_stream())
    rows += position_rows(options, of, batch);
  else if (options.scheme == TrainingScheme::multiply)
    rows.array() *= 1 + position_rows(options, of, batch).array();
  return rows;
}

void add_rows_gradient(const ModelOptions& options, const Tables& of, const Batch& batch,
                       const Matrix<float>& d_rows, Tables& d_tables) {
  if (options.scheme == TrainingScheme::multiply) {
    const Matrix<float> e = token_rows(options, of, batch), p = position_rows(options, of, batch);
    add_token_rows_gradient(options, batch, d_rows.array() * (1 + p.array()), d_tables);
    add_position_rows_gradient(options, batch, d_rows.cwiseProduct(e), d_tables);
    return;
  }
  add_token_rows_gradient(options, batch, d_rows, d_tables);
  if (options.in_stream()) add_position_rows_gradient(options, batch, d_rows, d_tables);
}

Matrix<float> mask_and_bias(const ModelOptions& options, const Parameters& of, Index n, bool positions) {
  const Index heads = options.heads, width = options.d_head(), last = options.positions - 1;
  Matrix<float> bias = Matrix<float>::Zero(heads * n, n);
  if (options.scheme == TrainingScheme::tupe && positions && !options.zero_scores) {
    const Matrix<float> queries = times(of.P.topRows(n), of.U_q), keys = times(of.P.topRows(n), of.U_k);
    for (Index h = 0; h < heads; ++h)
      bias.middleRows(h * n, n) =
          options.score_scale() *
          times_transposed(queries.middleCols(h * width, width), keys.middleCols(h * width, width));
  }
  const std::vector<double> slopes = alibi_slopes(options.heads);
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < n; ++i) {
      auto row = bias.row(h * n + i);
      if (options.scheme == TrainingScheme::t5 && !options.zero_scores)
        row = of.T5.row(h).segment(last - i, n);
      if (options.scheme == TrainingScheme::alibi && !options.zero_scores)
        for (Index j = 0; j < n; ++j)
          row[j] = static_cast<float>(-slopes[h] * static_cast<double>(std::abs(i - j)));
      if (options.causal) row.tail(n - 1 - i).setConstant(static_cast<float>(kMasked));
    }
  }
  return bias;
}

void add_bias_gradient(const ModelOptions& options, const Parameters& of, const Matrix<float>& d_bias,
                       Parameters& gradient) {
  if (options.zero_scores) return;
  const Index n = d_bias.cols(), width = options.d_head(), last = options.positions - 1;
  if (options.scheme == TrainingScheme::t5) {
    for (Index h = 0; h < options.heads; ++h) {
      for (Index i = 0; i < n; ++i) gradient.T5.row(h).segment(last - i, n) += d_bias.row(h * n + i);
    }
  }
  if (options.scheme != TrainingScheme::tupe) return;
  const auto p = of.P.topRows(n);
  const Matrix<float> queries = times(p, of.U_q), keys = times(p, of.U_k);
  Matrix<float> d_queries(n, options.stream()), d_keys(n, options.stream());
  for (Index h = 0; h < options.heads; ++h) {
    const Matrix<float> d_head = options.score_scale() * d_bias.middleRows(h * n, n);
    set_times(d_head, keys.middleCols(h * width, width), d_queries.middleCols(h * width, width));
    set_transposed_times(d_head, queries.middleCols(h * width, width), d_keys.middleCols(h * width, width));
  }
  add_transposed_times(p, d_queries, gradient.U_q);
  add_transposed_times(p, d_keys, gradient.U_k);
  if (options.trains_positions())
    gradient.P.topRows(n) += times_transposed(d_queries, of.U_q) + times_transposed(d_keys, of.U_k);
}

}  // namespace superpose
