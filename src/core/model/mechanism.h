// Decomposes a layer's scores by an analysis of variance (scores/anova.h), both for layers that rotate
// queries and keys and for layers whose states carry positions.
//
// A query or key, before it is rotated, is the sum of its mean over a corpus, of what its position adds to
// that mean, and of the rest, which is its token's. The seven terms become terms of four parts (token,
// position, constant and offset):
//
//   token.token        token -> token, at any distance   constant.token  the key alone
//   token.position     token -> position                 token.constant  the query alone: no effect
//   position.token     position -> token                 offset.offset   token -> token by offset
//   position.position  position -> position
//
// All others are zero. Averages over offsets are over the pairs that attend, which in a causal model are the
// keys up to the query. From the second layer on, states carry positions too, so the place of a query is
// more than its offset from the key. In the first layer of a model that adds no positions, the places' part
// is zero, and position.position depends on the offset alone.
//
// Rows before the first row of the means are excluded, since the model fixes their tokens. No share includes
// a pair with such a row. The score of such a pair is not divided: all of it is constant.constant, and its
// other terms are zero.
#pragma once

#include <complex>
#include <vector>

#include "model/input_parts.h"
#include "model/transformer_stack.h"
#include "numeric/bytes.h"
#include "scores/anova.h"

namespace superpose {

// Means of queries [H d_h] and of keys [G d_h], before they are rotated, and what each position adds to them.
struct ScoreMeans {
  StateMeans query, key;
};

class Mechanism {
 public:
  // For a run with a trace. There are at most first + t rows; `first` is the same for queries and keys.
  Mechanism(const TransformerStack& stack, const Forward& run, int layer, const ScoreMeans& means);

  // Like head_terms() of scores/decomposition.h, with part p of the four parts in the group group_of[p]. The
  // logits are those of the run.
  double head_terms(int head, const std::vector<int>& group_of, int groups, float* terms,
                    float* logits) const;

 private:
  struct Factors {
    FactorParts query, key;
  };
  Factors factors(int head) const;
  // Adds terms [used, used], in the order of AnovaTerm, to the grouped terms [n, n].
  void add_anova_terms(const Matrix<double>& anova, const std::vector<int>& group_of, int groups,
                       float* terms) const;

  const TransformerStack& stack_;
  const Forward& run_;
  int layer_;
  std::vector<double> frequencies_;
  std::vector<std::complex<double>> mean_rotations_;  // over the rows that are not excluded
  struct QueriesAndKeys {
    Matrix<double> queries, keys;
  };
  QueriesAndKeys rows_;    // the rows that are not excluded
  QueriesAndKeys mean_;    // a single row
  QueriesAndKeys places_;  // as many rows as rows_
};

// The bytes needed besides those of the scores: terms are computed in double, from copies of queries, keys
// and their means.
constexpr double mechanism_bytes(double n, double query_channels, double key_channels) {
  return bytes_of_doubles(24 * n * n + 8 * n * (query_channels + key_channels));
}

}  // namespace superpose
