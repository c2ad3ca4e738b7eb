// How positions get into the model: the rows that the first layer reads, what is added to scores, and the
// gradients of both.
//
// With e = E[t], times sqrt(d_token) if scale_tokens is set, and p = P[i], both rows:
//
//   add                  e + p
//   concat, concat_wide  [e | p]
//   project              [e | p] W_f, which is e A + p B with W_f = [A; B]
//   multiply             e (1 + p)
//
// and e alone under all other schemes. Products of weights with whole tables are computed once per step.
#pragma once

#include "training/options.h"
#include "training/parameters.h"
#include "training/tasks.h"

namespace superpose {

// The rows that are added or concatenated: of all tokens [V, d_token], and of the first n positions [n,
// d_position].
struct Tables {
  Matrix<float> tokens, positions;
};

Tables tables(const ModelOptions& options, const Parameters& parameters, Eigen::Index n);

// Adds to the gradient of the parameters that tables() reads, given the gradient with respect to the tables.
void add_tables_gradient(const ModelOptions& options, const Parameters& parameters, const Tables& d_tables,
                         Parameters& gradient);

// The rows that the first layer reads, [sequences n, D].
Matrix<float> fused_rows(const ModelOptions& options, const Tables& tables, const Batch& batch);

// Adds to the gradient of the tables, given the gradient with respect to the fused rows.
void add_rows_gradient(const ModelOptions& options, const Tables& tables, const Batch& batch,
                       const Matrix<float>& d_rows, Tables& d_tables);

// The rows of one table for each place of a batch, [sequences n, D], in the table's channels and zeros in
// others.
Matrix<float> token_rows(const ModelOptions& options, const Tables& tables, const Batch& batch);
Matrix<float> position_rows(const ModelOptions& options, const Tables& tables, const Batch& batch);

// Add to the gradient of one table, given the gradient with respect to those rows.
void add_token_rows_gradient(const ModelOptions& options, const Batch& batch, const Matrix<float>& d_rows,
                             Tables& d_tables);
void add_position_rows_gradient(const ModelOptions& options, const Batch& batch, const Matrix<float>& d_rows,
                                Tables& d_tables);

// What is added to the scores of a layer, [H n, n]: kMasked at later keys under a causal mask and zeros
// elsewhere; and the same with the scheme's bias, if it has one.
Matrix<float> causal_mask(const ModelOptions& options, Eigen::Index n);
Matrix<float> mask_and_bias(const ModelOptions& options, const Parameters& parameters, Eigen::Index n);

// Adds to the gradient of the parameters that the bias reads, given the gradient with respect to the bias.
void add_bias_gradient(const ModelOptions& options, const Parameters& parameters, const Matrix<float>& d_bias,
                       Parameters& gradient);

}  // namespace superpose
