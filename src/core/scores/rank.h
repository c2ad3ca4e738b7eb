// How many independent patterns a matrix of scores can hold, for each way of using positions.
//
// Added, (X + P) W_Q W_K' (X + P)' goes through d_h dimensions, whatever its four terms; so does a
// concatenation with any W_Q, W_K of that head width. Untied, X W_Q W_K' X' + P U_Q U_K' P' is a sum of two
// such matrices and reaches twice as far (Chen et al. 2021, arXiv 2104.08698, on the limit of the former).
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// The number of singular values above `tolerance` (0 to 1) times the largest. 0 for an empty or zero
// matrix. 1e-10 separates rank from rounding for logits computed in double.
int numerical_rank(const Matrix<double>& matrix, double tolerance);

// The largest rank of the logits of n tokens; random weights and tables reach it.
struct ScoreRanks {
  int added = 0;         // min(n, d_h, d_t), for d_t = d_p
  int concatenated = 0;  // full W_Q, W_K on [x; p]: min(n, d_h, d_t + d_p)
  int untied = 0;        // min(n, min(d_h, d_t) + min(d_h_position, d_p))
};

// n >= 0 tokens; widths of tables and heads, >= 1.
ScoreRanks score_ranks(int n, int d_t, int d_p, int d_h, int d_h_position);

}  // namespace superpose
