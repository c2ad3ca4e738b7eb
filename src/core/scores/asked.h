// What a score asks about, by one rule for every scheme: a term asks about what it varies with, all means
// removed.
//
// A query is q_i = mu + pi_i + q~_i: its mean over all tokens and places, what its place adds to that, and
// what is left, which is its token's; a key likewise. A relative scheme also has rows or numbers r_t of an
// offset, of which r- is the mean over the pairs that attend, and r~ = r - r-. RoPE's is the rotation R of
// the offset itself. Whatever a score is the sum of then falls into
//
//                      q . k          q . r_t    r_t . k           b_t   q R k
//   token-token        q~ k~                                             q~ R- k~
//   token-position     q~ pi          q~ r~                              q~ (R~ mu + R pi)
//   position-token     pi k~                     r~ k~                   (mu R~ + pi R) k~
//   position-position  (mu + pi) pi   (mu + pi) r~   r~ (mu + pi) + r- pi   b~    (mu + pi) R (mu + pi) - (mu + pi) R- mu
//   token-offset       -                                                 q~ R~ k~
//   key                mu k~                     r- k~                   mu R- k~
//   query              q mu           q r-       r- mu             b-    q R- mu
//
// and the seven add up to the score. The last is the same for every key, so softmax ignores it. Of the first
// layer, where tokens and places are independent, this is the functional analysis of variance of the score
// as a function of the two tokens and the two places: other terms are uncorrelated.
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "scores/schemes.h"
#include "scores/shares.h"

namespace superpose {

enum class Asked { token_token, token_position, position_token, position_position, token_offset, key, query };
constexpr int kAsked = 7;
constexpr std::array<const char*, kAsked> names(Asked) {
  return {"token-token", "token-position", "position-token", "position-position", "token-offset",
          "key",         "query"};
}

// One factor of a product, taken apart. token is [n, w]; place is [n, w], or empty for none; mean is [1, w].
struct Parted {
  Matrix<double> token, place, mean;
};

// Rows [n, w] about a mean row [1, w] and the rows [n, w] that places add to it, which may be empty.
Parted part_rows(const Matrix<double>& rows, const Matrix<double>& mean, const Matrix<double>& place);

// e^(i theta_m (j - i)) of each pair of channels m, on average over the pairs of n places that attend: all, or those of
// a causal mask.
std::vector<std::complex<double>> mean_turns(const std::vector<double>& frequencies, Eigen::Index n,
                                             bool causal);

// RoPE's score scale q_i R_(j-i) k_j of one head, from queries and keys that are not turned yet, as kAsked terms
// [n, n] one after another. The layout says which channels make a pair; `means` is mean_turns().
void turned_asked(const Parted& query, const Parted& key, const std::vector<double>& frequencies,
                  Layout layout, const std::vector<std::complex<double>>& means, double scale, double* terms);

// One head of a scheme, kAsked terms [n, n] one after another. `average` is the same scheme of n tokens that are all
// the mean token. Means are over the pairs that attend.
void scheme_asked(const Scheme& scheme, const Scheme& average, int head, double* terms);

}  // namespace superpose
