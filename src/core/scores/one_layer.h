// The outputs of a linear layer for vectors that are added, and for the same vectors concatenated.
//
// Vectors are rows, so a layer computes a W. With parts a_k, each [n, d], and weights W_k, each [d, m],
//
//   added         (sum_k a_k) W_1
//   concatenated  [a_1, a_2, ...] (W_1 over W_2 over ...) = sum_k a_k W_k
//
// so with W_k = W_1 the two are equal. A norm before the weights reads sums in the first case, and joined
// rows in the second.
#pragma once

#include <vector>

#include "numeric/bytes.h"
#include "numeric/matrix.h"
#include "scores/layer_norm.h"

namespace superpose {

struct OneLayerOptions {
  double pull = 0;      // t, 0 to 1: from the second on, weights are (1 - t) W_k + t W_1
  double scale = 1;     // rho, which multiplies the second part
  bool undoes = false;  // whether the second weight is also divided by rho, which must then not be 0
  Norm norm = Norm::none;
};

struct OneLayer {
  std::vector<Matrix<double>> weights;  // after pull and scale
  Matrix<double> added, concatenated;   // [n, m]
  // What each part adds to the concatenated output, [n, m]; they sum to it.
  std::vector<Matrix<double>> contributions;
  double difference = 0;           // the largest |concatenated - added|
  double relative_difference = 0;  // |concatenated - added| / |added|, over all numbers
  double miss = 0;                 // the least |c concatenated - added| / |added| over all numbers c
  Vector<double> length_ratios;    // [n], |concatenated| / |added| of each row
  // The least |x M + rho p M - (x + p) W_1| / |(x + p) W_1| over all matrices M that serve both parts, for
  // independent x and p with the same covariance: then M = (1 + rho) / (1 + rho^2) W_1. This miss is 0 only
  // for rho = 1.
  double shared_miss = 0;
};

// parts: at least one, all [n, d]; weights: as many, all [d, m].
OneLayer one_layer(std::vector<Matrix<double>> parts, std::vector<Matrix<double>> weights,
                   const OneLayerOptions& options);
constexpr double one_layer_bytes(double n, double d, double m, double parts) {
  return bytes_of_doubles(6 * n * parts * d + (4 + parts) * n * m + n);
}

}  // namespace superpose
