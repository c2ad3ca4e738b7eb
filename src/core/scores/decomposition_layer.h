// The terms of attention scores again and again, for fixed weights: a call costs only what has changed.
//
// W_Q and W_K are packed once. Tables are compared with the last ones row by row, and only rows that differ
// are projected. Terms whose query part and key part are both unchanged are not computed again; with fixed
// positions that is one of the four products. What is kept of summand s is W (gamma * C t_s), without its
// factor and without sigma: those are one number per row and multiply the finished products. A gauge is
// applied after that: in any gauge except raw, the parts of a head are put together from what is kept.
#pragma once

#include <functional>
#include <vector>

#include "numeric/product.h"
#include "scores/decomposition.h"
#include "scores/gauge.h"

namespace superpose {

template <typename Scalar>
class DecompositionLayer {
 public:
  // Takes terms[at .. at + count - 1].
  using Write = std::function<void(const Scalar* from, std::size_t count, std::size_t at)>;

  DecompositionLayer(const Linear<Scalar>& query, const Linear<Scalar>& key,
                     const Normalization<Scalar>& normalization, int heads, Scalar scale, int summands,
                     const Gauge<Scalar>& gauge = {});

  // Sets n, the number of tokens of later tables, which must exceed the index of every row that stands apart.
  // A new n forgets all tables.
  void resize(Eigen::Index tokens);
  // Where the next table [n, d] is to be written. take() reads it and invalidates the pointer.
  Scalar* next_table() { return next_.data(); }
  std::size_t table_size() const { return next_.size(); }
  // Takes next_table() as summand s, multiplied by `factor`. Call it for every summand before terms().
  void take(int s, Scalar factor);

  // The chosen heads' terms [heads, parts, parts, n, n], in pieces. The parts are the summands and, when
  // there is a bias, a beta or a gauge other than raw, the constant. With `kept`, terms that have not changed
  // since the last call, which must have been for the same heads, are not written again. Allocates once for
  // each n and, in a gauge, the means of each head.
  void terms(const std::vector<int>& heads, bool kept, const Write& write);

  int parts() const { return summands_ + constant_; }
  Eigen::Index tokens() const { return tokens_; }

 private:
  struct Side {
    PackedStack<Scalar> weight;
    Matrix<Scalar> rows;      // [summands * n, heads * d_h], projected
    Vector<Scalar> constant;  // [heads * d_h]: W beta + b
    Matrix<Scalar> means;     // [summands, heads * d_h], for a gauge of given means
    Matrix<Scalar> parts;     // [(summands + 1) * n, d_h], one head in a gauge
  };
  class Writer;

  void make_side(Side& side, const Linear<Scalar>& linear, const Matrix<Scalar>& means);
  void project(int s, const Rows<Scalar>& rows);
  void update_factors();
  void scale_block(int s, int r, Eigen::Index from, Eigen::Index count, Scalar* block) const;
  void gauged_parts(int head, Side& side) const;
  void varying_terms(int head, std::size_t place, bool kept, Writer& out);
  void constant_terms(int head, std::size_t place, bool kept, Writer& out);
  bool is_kept(bool kept, int s, int r) const { return kept && !changed_[s] && !changed_[r]; }

  Normalization<Scalar> normalization_;
  bool gauged_;  // in any gauge except raw
  std::vector<int> apart_rows_;
  int heads_, summands_;
  bool constant_;
  Scalar scale_;
  Eigen::Index width_, d_, tokens_ = 0;
  Side query_, key_;
  PackedStack<Scalar> keys_of_head_;
  Matrix<Scalar> next_, fresh_;
  std::vector<Matrix<Scalar>> tables_;      // [n, d], as taken
  std::vector<Scalar> table_factors_;       // what each is multiplied by
  std::vector<Vector<Scalar>> factors_;     // [n], for each row the table's factor over the token's sigma
  Vector<Scalar> sigma_;                    // [n]
  std::vector<char> apart_;                 // [n], or empty
  bool all_ones_ = true;                    // whether every one of them is 1
  std::vector<char> changed_;               // since the last terms(), by part
  std::vector<Eigen::Index> changed_rows_;  // of the table in take()
  AlignedBuffer<Scalar> buffer_;
};

}  // namespace superpose
