// Decomposes a score by functional analysis of variance, with one rule for every scheme: a term belongs to
// what it varies with, after all means are removed.
//
// A query is q_i = mu + pi_i + q~_i: the sum of its mean over all tokens and places, of what its place adds
// to that mean, and of the rest, which is its token's. A key is divided likewise. A relative scheme also has
// a row or number r_t for each offset; r- is their mean over the pairs that attend, and r~ = r - r-. RoPE has
// the rotation R by the offset instead. A score is a sum of some of the five products below, and each product
// is divided into seven terms:
//
//                      q . k          q . r_t        r_t . k               b_t
//   token-token        q~ k~
//   token-position     q~ pi          q~ r~
//   position-token     pi k~                         r~ k~
//   position-position  (mu + pi) pi   (mu + pi) r~   r~ (mu + pi) + r- pi  b~
//   key                mu k~                         r- k~
//   query              q mu           q r-           r- mu                 b-
//
//                      q R k
//   token-token        q~ R- k~
//   token-position     q~ (R~ mu + R pi)
//   position-token     (mu R~ + pi R) k~
//   position-position  (mu + pi) R (mu + pi) - (mu + pi) R- mu
//   token-offset       q~ R~ k~
//   key                mu R- k~
//   query              q R- mu
//
// The seven terms add up to the score. The last is the same for every key, so softmax ignores it. In the
// first layer, where tokens and places are independent, this is the functional analysis of variance of the
// score as a function of the two tokens and the two places: terms are uncorrelated.
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "scores/schemes.h"
#include "scores/shares.h"

namespace superpose {

enum class AnovaTerm {
  token_token,
  token_position,
  position_token,
  position_position,
  token_offset,
  key,
  query
};
constexpr int kAnovaTerms = 7;
constexpr std::array<const char*, kAnovaTerms> names(AnovaTerm) {
  return {"token-token", "token-position", "position-token", "position-position", "token-offset",
          "key",         "query"};
}

// The rows of one factor of a product, as a sum: token [n, w], place [n, w] or empty for none, mean [1, w].
struct FactorParts {
  Matrix<double> token, place, mean;
};

// Splits rows [n, w] by a mean row [1, w] and the rows [n, w] that places add to it, which may be empty.
FactorParts factor_parts(const Matrix<double>& rows, const Matrix<double>& mean, const Matrix<double>& place);

// The mean of e^(i theta_m (j - i)) for each pair of channels m, over the pairs of n places that attend:
// all, or those of a causal mask.
std::vector<std::complex<double>> mean_rotations(const std::vector<double>& frequencies, Eigen::Index n,
                                                 bool causal);

// The terms of RoPE's score scale q_i R_(j-i) k_j of one head, kAnovaTerms matrices [n, n] one after
// another, from queries and keys that are not rotated yet. The layout says which channels make a pair;
// `means` is mean_rotations().
void rotary_anova_terms(const FactorParts& query, const FactorParts& key,
                        const std::vector<double>& frequencies, Layout layout,
                        const std::vector<std::complex<double>>& means, double scale, double* terms);

// The terms of one head of a scheme, kAnovaTerms matrices [n, n] one after another. `average` is the same
// scheme with the mean token at all n places. Means are over the pairs that attend.
void scheme_anova_terms(const Scheme& scheme, const Scheme& average, int head, double* terms);

}  // namespace superpose
