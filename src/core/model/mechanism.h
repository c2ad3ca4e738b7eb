// A layer's scores by what they ask about (scores/asked.h), whether it turns queries and keys or the states carry
// positions.
//
// A query or key, before it is turned, is its mean over a corpus, what its place adds to that, and what is left, which
// is its token's. The seven terms become those of four parts:
//
//   token.token        token -> token, at any distance        constant.token  the key's own appeal
//   token.position     token -> position                      token.constant  the same for every key: softmax ignores it
//   position.token     position -> token                      offset.offset   token -> token by offset
//   position.position  position -> position
//
// All others are zero. Averages over offsets are over the pairs that attend, causal ones. From the
// second layer on, states carry positions too, so the place of a query is not only its offset from the key; in the
// first layer of a model that adds no positions the places' part is zero, and position.position depends on the offset
// alone.
//
// Rows before the means' first are excluded, since the model fixes their tokens. No share is of a pair with such a row,
// and its score is not split: all of it is constant.constant, and its other terms are zero.
#pragma once

#include <complex>
#include <vector>

#include "model/input_parts.h"
#include "model/transformer_stack.h"
#include "scores/asked.h"

namespace superpose {

// Means of queries [H d_h] and keys [G d_h], before they are turned, and of each place.
struct ScoreMeans {
  StateMeans query, key;
};

class Mechanism {
 public:
  // Of a run that kept its trace and scores. There are at most first + t rows; both firsts are the same.
  Mechanism(const TransformerStack& stack, const Forward& run, int layer, const ScoreMeans& means);

  // Like head_terms() of scores/decomposition.h, the four parts put into groups: part p into group_of[p]. The logits
  // are those of the run.
  double head_terms(int head, const std::vector<int>& group_of, int groups, float* terms,
                    float* logits) const;

 private:
  struct Factors {
    Parted query, key;
  };
  Factors factors(int head) const;
  // Adds terms [used, used] in the order of Asked to the grouped ones [n, n].
  void add_asked(const Matrix<double>& asked, const std::vector<int>& group_of, int groups,
                 float* terms) const;

  const TransformerStack& stack_;
  const Matrix<float>& logits_;  // [H n, n]
  std::vector<double> frequencies_;
  std::vector<std::complex<double>> turns_;  // mean_turns() of the rows that are not excluded
  struct Both {
    Matrix<double> queries, keys;
  };
  Both rows_;    // those rows
  Both mean_;    // one row
  Both places_;  // as many as rows_
};

}  // namespace superpose
