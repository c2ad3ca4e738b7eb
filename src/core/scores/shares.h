// How much of a score's variation over keys each of its terms accounts for.
//
// Softmax ignores anything that is constant in j, so each row is centred before terms are compared:
//
//   share_t = <T~_t, A~> / |A~|^2,   A~ = logits minus their row means.
//
// Since A~ is the sum of the T~_t, shares sum to 1. The share of a term that opposes the rest is negative.
#pragma once

#include <vector>

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

// The pairs over which shares are taken. Default: all.
struct CountedPairs {
  std::vector<char> excluded;  // [n], 1 for a row that counts neither as a query nor as a key; or empty
  bool causal = false;         // a query sees the keys up to its own

  bool counts(Eigen::Index query, Eigen::Index key) const {
    return (excluded.empty() || (!excluded[query] && !excluded[key])) && (!causal || key <= query);
  }
};

struct Covariances {
  Vector<double> terms;   // <T~_t, A~> per term
  double logits = 0;      // |A~|^2
  Vector<double> shares;  // per term; valid even where squares of the logits exceed the range of doubles
};

// `terms` holds `count` matrices [n, n], one after another; `logits` is [n, n]. Each row is centred over the
// keys that count in it. Covariances may be added up over sentences or heads before they are divided:
// pooled_shares(). Logits have no shares if their rows are constant, vary by no more than rounding, or have
// fewer than two keys that count: all covariances are then 0, and all shares NaN. Rounding is taken as 64
// units in the last place of the largest |logit| or |term| for each entry, in the root mean square. Sums are
// in double.
template <typename Scalar>
Covariances row_centred_covariances(const Scalar* terms, int count, const Scalar* logits, Eigen::Index n,
                                    const CountedPairs& counted = {});

// Shares of heads and groups of terms over several sentences. Covariances are added up before they are
// divided, so that a sentence or a head counts by how much its scores vary.
struct PooledShares {
  Matrix<double> heads;   // [heads, groups], over all sentences
  Vector<double> mean;    // [groups], the mean over the heads whose scores vary, each counting the same
  Vector<double> pooled;  // [groups], over all heads and sentences
};

// covariances [sentences * heads, terms], sentence by sentence; variances [sentences * heads]; group_of
// [terms], from 0 to groups - 1. A head's row sums to 1, and is NaN if none of its scores varies. The mean
// and the pooled shares are NaN only if no head varies.
PooledShares pooled_shares(const Matrix<double>& covariances, const Vector<double>& variances, int heads,
                           const std::vector<int>& group_of, int groups);
constexpr double pooled_shares_bytes(double heads_of_all_sentences, double terms) {
  return bytes_of_doubles(3 * heads_of_all_sentences * (terms + 1));
}

}  // namespace superpose
