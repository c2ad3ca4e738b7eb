// What a linear layer makes of vectors added, and of the same vectors concatenated.
//
// Rows are vectors, as in a W. With parts a_k, each [n, d], and weights W_k, each [d, m],
//
//   added         (sum_k a_k) W_1
//   concatenated  [a_1, a_2, ...] (W_1 over W_2 over ...) = sum_k a_k W_k
//
// so with W_k = W_1 the two are one. A norm between sees sums in one case and joined rows in the other.
#pragma once

#include <vector>

#include "numeric/matrix.h"
#include "scores/layer_norm.h"

namespace superpose {

struct OneLayerOptions {
  double pull = 0;      // t, 0 to 1: from the second on, weights are (1 - t) W_k + t W_1
  double scale = 1;     // rho, of the second part
  bool undoes = false;  // whether the second weight is also divided by rho, which then must not be 0
  Norm norm = Norm::none;
};

struct OneLayer {
  std::vector<Matrix<double>> weights;  // as the options make them
  Matrix<double> added, concatenated;   // [n, m]
  double difference = 0;                // the largest |concatenated - added|
  double apart = 0;                     // |concatenated - added| / |added|, over all numbers
  double miss = 0;                      // the least |c concatenated - added| / |added| for one number c
  // The same of the best matrix for both parts, if the second is scaled by rho and (x + p) W_1 is wanted:
  // (1 + rho) / (1 + rho^2) W_1, for independent x and p that spread alike. 0 for rho = 1 alone.
  double shared_miss = 0;
};

// parts: at least one, all [n, d]; weights: as many, all [d, m].
OneLayer one_layer(std::vector<Matrix<double>> parts, std::vector<Matrix<double>> weights,
                   const OneLayerOptions& options);

}  // namespace superpose
