// Shares of heads and groups of terms over several sentences. Covariances (shares.h) are added up first and
// divided last, so that a sentence or a head counts by how much its scores vary.
#pragma once

#include <vector>

#include "numeric/matrix.h"

namespace superpose {

struct PooledShares {
  Matrix<double> heads;   // [heads, groups], over all sentences
  Vector<double> mean;    // [groups], the mean of the heads' shares: each head counts the same
  Vector<double> pooled;  // [groups], over all heads and sentences
};

// covariances [sentences * heads, terms], sentence by sentence; variances [sentences * heads];
// group_of [terms], from 0 to groups - 1. Each row sums to 1, and is NaN where no score varies.
PooledShares pooled_shares(const Matrix<double>& covariances, const Vector<double>& variances, int heads,
                           const std::vector<int>& group_of, int groups);

}  // namespace superpose
