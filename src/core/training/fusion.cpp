#include "training/fusion.h"

#include "training/product.h"

namespace superpose {

using Eigen::Index;

Tables tables(const ModelOptions& options, const Parameters& of, Index n) {
  const auto scale = static_cast<float>(options.token_scale());
  Tables made{scale * of.E, of.P.topRows(options.has_table() ? n : 0)};
  if (options.scheme == TrainingScheme::project) {
    made.tokens = times(made.tokens, of.W_f.topRows(options.width));
    made.positions = times(made.positions, of.W_f.bottomRows(options.width));
  }
  return made;
}

void add_tables_gradient(const ModelOptions& options, const Parameters& of, const Tables& d_tables,
                         Parameters& gradient) {
  const auto scale = static_cast<float>(options.token_scale());
  Matrix<float> d_tokens = scale * d_tables.tokens, d_positions = d_tables.positions;
  const Index n = d_positions.rows();
  if (options.scheme == TrainingScheme::project) {
    const Index d = options.width;
    add_transposed_times(of.E, d_tokens, gradient.W_f.topRows(d));
    add_transposed_times(of.P.topRows(n), d_positions, gradient.W_f.bottomRows(d));
    d_tokens = times_transposed(d_tokens, of.W_f.topRows(d));
    d_positions = times_transposed(d_positions, of.W_f.bottomRows(d));
  }
  if (options.trains_tokens()) gradient.E += d_tokens;
  if (options.trains_positions()) gradient.P.topRows(n) += d_positions;
}

Matrix<float> token_rows(const ModelOptions& options, const Tables& of, const Batch& batch) {
  Matrix<float> rows = Matrix<float>::Zero(batch.places(), options.d_model());
  for (Index r = 0; r < rows.rows(); ++r)
    rows.row(r).head(options.d_token()) = of.tokens.row(batch.tokens[r]);
  return rows;
}

Matrix<float> position_rows(const ModelOptions& options, const Tables& of, const Batch& batch) {
  Matrix<float> rows = Matrix<float>::Zero(batch.places(), options.d_model());
  for (int s = 0; s < batch.sequences; ++s)
    rows.block(s * batch.n, options.d_model() - options.d_position(), batch.n, options.d_position()) =
        of.positions;
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
    d_tables.positions +=
        d_rows.block(s * batch.n, options.d_model() - options.d_position(), batch.n, options.d_position());
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

}  // namespace superpose
