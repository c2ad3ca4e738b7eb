// How positions get in: the rows that the first layer reads, and what is added to scores; and the gradients of both.
//
// With e = E[t], times sqrt(d) if options say so, and p = P[i], both rows:
//
//   add                  e + p
//   concat, concat_wide  [e | p]
//   project              [e | p] W_f, which is e A + p B with W_f = [A; B]
//   multiply             e (1 + p)
//
// and e alone under all other schemes. What a weight makes of whole tables is computed once per step.
#pragma once

#include "training/options.h"
#include "training/parameters.h"
#include "training/tasks.h"

namespace superpose {

// The rows that are added or concatenated: of all tokens [V, d_token], and of the first n positions [n, d_position].
struct Tables {
  Matrix<float> tokens, positions;
};

Tables tables(const ModelOptions& options, const Parameters& of, Eigen::Index n);

// Adds to the gradient of what tables() was given, given that with respect to the tables.
void add_tables_gradient(const ModelOptions& options, const Parameters& of, const Tables& d_tables,
                         Parameters& gradient);

// [sequences n, D]
Matrix<float> fused_rows(const ModelOptions& options, const Tables& of, const Batch& batch);

// Adds to the gradient of the tables, given that with respect to the rows.
void add_rows_gradient(const ModelOptions& options, const Tables& of, const Batch& batch,
                       const Matrix<float>& d_rows, Tables& d_tables);

// The rows of one table for each place of a batch [sequences n, D], in its own channels and zeros in others; and the
// gradient of that, added.
Matrix<float> token_rows(const ModelOptions& options, const Tables& of, const Batch& batch);
Matrix<float> position_rows(const ModelOptions& options, const Tables& of, const Batch& batch);
void add_token_rows_gradient(const ModelOptions& options, const Batch& batch, const Matrix<float>& d_rows,
                             Tables& d_tables);
void add_position_rows_gradient(const ModelOptions& options, const Batch& batch, const Matrix<float>& d_rows,
                                Tables& d_tables);

// Added to the scores of every layer, [H n, n]: kMasked for later keys under a causal mask, and what tupe, alibi and t5
// have; that of tupe only with `positions`.
Matrix<float> mask_and_bias(const ModelOptions& options, const Parameters& of, Eigen::Index n,
                            bool positions);
void add_bias_gradient(const ModelOptions& options, const Parameters& of, const Matrix<float>& d_bias,
                       Parameters& gradient);

}  // namespace superpose
