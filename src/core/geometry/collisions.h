// Can one token plus a position be mistaken for another token?
//
// At the same position, adding changes no difference: |(e_a + p) - (e_b + p)| = |e_a - e_b|.
// Against the bare table, e_a + p_i is nearer to e_b than to e_a if and only if
//
//   <e_b - e_a, p_i> > 1/2 |e_b - e_a|^2,
//
// since |e_a + p - e_b|^2 = |e_a - e_b|^2 + 2 <e_a - e_b, p> + |p|^2. The right side minus the left side is
// called the margin here: it is negative if b takes a's place.
#pragma once

#include <vector>

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

// A vocabulary and the positions added to it, prepared for many queries. Only differences of tokens matter,
// so their mean row m is subtracted before they are multiplied: far from the origin, products would lose the
// differences.
struct CollisionSearch {
  Matrix<double> tokens;             // [V, d]
  Matrix<double> positions;          // [L, d]
  Vector<double> mean;               // [d], m
  Vector<double> half_norms;         // [V], |e_b - m|^2 / 2
  Matrix<double> position_products;  // [L, V], <p_i, e_b - m>: the thin product that all words share
};

// V, L >= 0, d >= 1. The call takes L V d multiplications; its result has V (d + L + 1) + L d numbers.
CollisionSearch collision_search(Matrix<double> tokens, Matrix<double> positions);
constexpr double collision_search_bytes(double V, double L, double d) {
  return bytes_of_doubles(2 * V * (d + L) + 2 * L * d);
}

// For each of `words` words and each position, the other token that comes nearest to taking the word's place.
struct NearestTokens {
  std::vector<int> bare;          // [words], the nearest other token to e_a; -1 when there is none
  Vector<double> bare_distances;  // [words], |e_b - e_a|; infinite when there is none
  std::vector<int> nearest;       // [words, L], the other token nearest to e_a + p_i; -1 likewise
  Matrix<double> margins;         // [words, L], its margin; below 0 the identity is lost. Infinite likewise
  Vector<double> bare_margins;    // [words], |e_b - e_a|^2 / 2: the margin without a position
  std::vector<int> lost;          // [L], how many of the words have a margin < 0
};

// For the words first .. first + words - 1 of the vocabulary. Of two tokens that are equally near up to
// rounding, either may be the result. Margins and distances are then computed from differences, so that a
// token equal to the word has the margin 0 for any p and never takes its place. Working memory: words * V
// numbers.
NearestTokens nearest_tokens(const CollisionSearch& search, int first, int words);
constexpr double nearest_tokens_bytes(double words, double V, double L) {
  return bytes_of_doubles(words * (V + 3 * L));
}

}  // namespace superpose
