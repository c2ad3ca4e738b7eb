// Probes: how much of a position, or of a token, a linear map can read from a vector.
//
// The position measures are those of Wang & Chen 2020 (EMNLP, "What do position embeddings learn?";
// MiuLab/PE-Study, absolute.py and relative.py): regression of the index, mean |round(y^) - y| under
// five-fold cross-validation, and classification of which of two positions comes first. The index is a
// smooth function, so whether neighbours of a row are in the training folds decides the outcome: folds
// can be shuffled or contiguous.
#pragma once

#include <cstdint>
#include <vector>

#include "numeric/matrix.h"

namespace superpose {

struct Ridge {
  Matrix<double> weight;     // [k, d]
  Vector<double> intercept;  // [k]
};

// Minimizes |Y - X W' - 1 b'|^2 + penalty |W|^2, penalty >= 0; the intercept b is not penalized. x [n, d], y
// [n, k], n >= 1. Penalty 0 is least squares, with the shortest W when there are several. Singular values of
// the centred X that are at most max(n, d) 2^-52 of the largest count as zero, as in numpy.linalg.lstsq.
// From a penalty of 2^-20 of the sum of their squares on, the penalty drowns them anyway, and W comes from
// the normal equations. Predictions far from the training rows depend on that cut.
Ridge fit_ridge(const Matrix<double>& x, const Matrix<double>& y, double penalty);

// The predictions [n, k] for rows [n, d].
Matrix<double> predict(const Ridge& ridge, const Matrix<double>& rows);

// Logistic regression: score = weight . x + intercept.
struct Logistic {
  Vector<double> weight;  // [d]
  double intercept = 0;
  bool converged = false;  // whether the last of at most 100 steps could gain no more than 1e-12 of the
                           // objective
};

// Minimizes penalty / 2 |weight|^2 + the sum of log(1 + exp(-sign * score)), intercept not penalized, by
// Newton's method. x [n, d]; sign [n], 1 or -1, n >= 1; penalty > 0. It does not converge where no optimum is
// within reach: when all signs are alike, or the rows are separable and the penalty is close to 0.
Logistic fit_logistic(const Matrix<double>& x, const Vector<double>& sign, double penalty);

// The fold of each of n items: n / folds items in each, and the first n % folds have one more. In
// order, or after a seeded shuffle.
std::vector<int> fold_assignment(int n, int folds, bool shuffled, std::uint32_t seed);

struct ProbeOptions {
  double penalty = 0;    // >= 0
  int folds = 5;         // 2 .. n
  bool shuffled = true;  // contiguous otherwise
  std::uint32_t seed = 0;
};

struct PositionProbe {
  Vector<double> predicted;        // [n], each by the regression that did not see it
  double mean_absolute_error = 0;  // of the rounded predictions, in positions
  double guessing_error = 0;       // the error of guessing the rounded mean of all positions every time
};

// rows [n, d], n >= 2; index [n], the position of each.
PositionProbe position_probe(const Matrix<double>& rows, const Vector<double>& index,
                             const ProbeOptions& options);

struct OrderProbe {
  std::vector<int> first;   // [pairs], a
  std::vector<int> second;  // [pairs], b, other than a
  std::vector<int> wrong;   // [pairs], 1 where the held-out classification is wrong
  double error = 0;         // the share of wrong ones
  bool converged = true;    // whether every fold's regression did; else `error` is from its last step
};

// Logistic regression on [p_a; p_b], label b > a, on `pairs` seeded random pairs of rows [n, d], n >= 2;
// folds are of pairs, 2 .. pairs. Penalty > 0 (1 is the default of Wang & Chen's tool).
OrderProbe order_probe(const Matrix<double>& rows, int pairs, const ProbeOptions& options);

struct TokenProbeOptions {
  double penalty = 1;         // > 0
  double held_out = 0.2;      // the share of tokens, and of positions, kept for testing; at least one each
  int training_pairs = 1000;  // sampled (token, position) pairs, >= 1
  int test_pairs = 1000;      // of held-out tokens at held-out positions, >= 1
  std::uint32_t seed = 0;
};

struct TokenProbe {
  double r_squared = 0;                 // 1 - |t^ - t|^2 / |t - mean of the training tokens|^2, on test pairs
  double training_r_squared = 0;        // the same on the training pairs
  double mean_cosine = 0;               // of t^ with t, on test pairs; 0 counts for a zero vector
  std::vector<int> held_out_tokens;     // ascending
  std::vector<int> held_out_positions;  // ascending
};

// Reads t from x = t + p by ridge regression, tested on tokens and positions that it never saw. tokens
// [V, d], positions [L, d]; V, L >= 2.
TokenProbe token_probe(const Matrix<double>& tokens, const Matrix<double>& positions,
                       const TokenProbeOptions& options);

}  // namespace superpose
