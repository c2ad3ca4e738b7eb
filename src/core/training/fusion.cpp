#include "training/fusion.h"

#include <cmath>
#include <vector>

#include "encodings/relative_position.h"
#include "training/product.h"

namespace superpose {

using Eigen::Index;

Tables tables(const ModelOptions& options, const Parameters& parameters, Index n) {
  const auto scale = static_cast<float>(options.token_scale());
  Tables tables{scale * parameters.E, parameters.P.topRows(options.has_table() ? n : 0)};
  if (options.scheme == TrainingScheme::project) {
    tables.tokens = times(tables.tokens, parameters.W_f.topRows(options.d_model));
    tables.positions = times(tables.positions, parameters.W_f.bottomRows(options.d_model));
  }
  return tables;
}

void add_tables_gradient(const ModelOptions& options, const Parameters& parameters, const Tables& d_tables,
                         Parameters& gradient) {
  const auto scale = static_cast<float>(options.token_scale());
  Matrix<float> d_tokens = scale * d_tables.tokens, d_positions = d_tables.positions;
  const Index n = d_positions.rows();
  if (options.scheme == TrainingScheme::project) {
    const Index d = options.d_model;
    add_transposed_times(parameters.E, d_tokens, gradient.W_f.topRows(d));
    add_transposed_times(parameters.P.topRows(n), d_positions, gradient.W_f.bottomRows(d));
    d_tokens = times_transposed(d_tokens, parameters.W_f.topRows(d));
    d_positions = times_transposed(d_positions, parameters.W_f.bottomRows(d));
  }
  if (options.trains_tokens()) gradient.E += d_tokens;
  if (options.trains_positions()) gradient.P.topRows(n) += d_positions;
}

Matrix<float> token_rows(const ModelOptions& options, const Tables& tables, const Batch& batch) {
  Matrix<float> rows = Matrix<float>::Zero(batch.places(), options.stream());
  for (Index r = 0; r < rows.rows(); ++r)
    rows.row(r).head(options.d_token()) = tables.tokens.row(batch.tokens[r]);
  return rows;
}

Matrix<float> position_rows(const ModelOptions& options, const Tables& tables, const Batch& batch) {
  Matrix<float> rows = Matrix<float>::Zero(batch.places(), options.stream());
  for (int s = 0; s < batch.sequences; ++s)
    rows.block(s * batch.n, options.stream() - options.position_channels(), batch.n,
               options.position_channels()) = tables.positions;
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

Matrix<float> fused_rows(const ModelOptions& options, const Tables& tables, const Batch& batch) {
  Matrix<float> rows = token_rows(options, tables, batch);
  if (options.in_stream())
    rows += position_rows(options, tables, batch);
  else if (options.scheme == TrainingScheme::multiply)
    rows.array() *= 1 + position_rows(options, tables, batch).array();
  return rows;
}

void add_rows_gradient(const ModelOptions& options, const Tables& tables, const Batch& batch,
                       const Matrix<float>& d_rows, Tables& d_tables) {
  if (options.scheme == TrainingScheme::multiply) {
    const Matrix<float> e = token_rows(options, tables, batch), p = position_rows(options, tables, batch);
    add_token_rows_gradient(options, batch, d_rows.array() * (1 + p.array()), d_tables);
    add_position_rows_gradient(options, batch, d_rows.cwiseProduct(e), d_tables);
    return;
  }
  add_token_rows_gradient(options, batch, d_rows, d_tables);
  if (options.in_stream()) add_position_rows_gradient(options, batch, d_rows, d_tables);
}

namespace {

// Sets the entries [H n, n] at later keys to kMasked, if the model is causal.
void mask_later_keys(const ModelOptions& options, Index n, Matrix<float>& scores) {
  if (!options.causal) return;
  for (Index r = 0; r < scores.rows(); ++r)
    scores.row(r).tail(n - 1 - r % n).setConstant(static_cast<float>(kMasked));
}

}  // namespace

Matrix<float> causal_mask(const ModelOptions& options, Index n) {
  Matrix<float> mask = Matrix<float>::Zero(options.heads * n, n);
  mask_later_keys(options, n, mask);
  return mask;
}

Matrix<float> mask_and_bias(const ModelOptions& options, const Parameters& parameters, Index n) {
  const Index heads = options.heads, width = options.d_head(), last = options.positions - 1;
  Matrix<float> bias = Matrix<float>::Zero(heads * n, n);
  if (options.scheme == TrainingScheme::tupe) {
    const auto p = parameters.P.topRows(n);
    const Matrix<float> queries = times(p, parameters.U_q), keys = times(p, parameters.U_k);
    for (Index h = 0; h < heads; ++h) {
      bias.middleRows(h * n, n) =
          options.score_scale() *
          times_transposed(queries.middleCols(h * width, width), keys.middleCols(h * width, width));
    }
  }
  if (options.scheme == TrainingScheme::t5) {
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < n; ++i) bias.row(h * n + i) = parameters.T5.row(h).segment(last - i, n);
    }
  }
  if (options.scheme == TrainingScheme::alibi) {
    const std::vector<double> slopes = alibi_slopes(options.heads);
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j)
          bias(h * n + i, j) = static_cast<float>(-slopes[h] * static_cast<double>(std::abs(i - j)));
      }
    }
  }
  mask_later_keys(options, n, bias);
  return bias;
}

void add_bias_gradient(const ModelOptions& options, const Parameters& parameters, const Matrix<float>& d_bias,
                       Parameters& gradient) {
  const Index n = d_bias.cols(), width = options.d_head(), last = options.positions - 1;
  if (options.scheme == TrainingScheme::t5) {
    for (Index h = 0; h < options.heads; ++h) {
      for (Index i = 0; i < n; ++i) gradient.T5.row(h).segment(last - i, n) += d_bias.row(h * n + i);
    }
  }
  if (options.scheme != TrainingScheme::tupe) return;
  const auto p = parameters.P.topRows(n);
  const Matrix<float> queries = times(p, parameters.U_q), keys = times(p, parameters.U_k);
  Matrix<float> d_queries(n, options.stream()), d_keys(n, options.stream());
  for (Index h = 0; h < options.heads; ++h) {
    const Matrix<float> d_head = options.score_scale() * d_bias.middleRows(h * n, n);
    set_times(d_head, keys.middleCols(h * width, width), d_queries.middleCols(h * width, width));
    set_transposed_times(d_head, queries.middleCols(h * width, width), d_keys.middleCols(h * width, width));
  }
  add_transposed_times(p, d_queries, gradient.U_q);
  add_transposed_times(p, d_keys, gradient.U_k);
  if (!options.trains_positions()) return;
  gradient.P.topRows(n) +=
      times_transposed(d_queries, parameters.U_q) + times_transposed(d_keys, parameters.U_k);
}

}  // namespace superpose
