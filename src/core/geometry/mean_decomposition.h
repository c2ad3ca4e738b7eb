// What a position and a token contribute to vectors on average: h = global + position + token + residual.
//
// The decomposition of Song & Zhong (arXiv 2310.04861), with means as effects:
//
//   global = mean of all rows,  position_t = mean at t - global,  token_c = mean of c - global.
//
// When x = t + p and every position sees the same distribution of tokens, position_t is p_t minus the mean
// position, up to sampling error: to that extent a position is a bias that can be read off.
#pragma once

#include <vector>

#include "numeric/matrix.h"

namespace superpose {

struct MeanDecomposition {
  Vector<double> global;    // [d]
  Matrix<double> position;  // [positions, d]; a zero row for a position that does not occur
  Matrix<double> token;     // [tokens, d]; likewise
  Matrix<double> residual;  // [n, d], so that the four add up to h
  // Shares of |h - global|^2 over all rows; NaN when that is 0. The three are orthogonal, and sum to 1,
  // when every token occurs equally often at each position. Otherwise `overlap`, 1 minus their sum,
  // measures how far the data are from that (it may have either sign).
  double position_share = 0;
  double token_share = 0;
  double residual_share = 0;
  double overlap = 0;
};

// rows [n, d]; position_of [n], below `positions`; token_of [n], below `tokens`. n may be 0: then all
// effects are zero and shares NaN.
MeanDecomposition mean_decomposition(const Matrix<double>& rows, const std::vector<int>& position_of,
                                     int positions, const std::vector<int>& token_of, int tokens);

// `amount` times the mean row of `from`, taken from each of its rows and given to each row of `to`, both [n, d]. The sums
// of their rows, and whatever is computed from them, stay as they are; n >= 1.
struct MovedMean {
  Matrix<double> from, to;
};
MovedMean move_mean(const Matrix<double>& from, const Matrix<double>& to, double amount);

}  // namespace superpose
