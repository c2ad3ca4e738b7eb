// The three things that "concatenate the position" can mean for an attention score.
//
// Each gives parts like those of a sum (token first, position second), so one function, head_terms(),
// takes all of them apart, and they can be compared:
//
//   raw             [x; rho p] . [y; rho q], no weights: two terms, no cross terms.
//   full            any W_Q, W_K on the joined vector: all four terms, from four independent blocks
//                   that together have rank at most d_h. Adding is the case with two equal blocks.
//   block-diagonal  token and position have separate projections and head dimensions: the cross
//                   terms are zero and the score is a sum of two scores (TUPE, arXiv 2006.15595, eq. 7).
#pragma once

#include "numeric/matrix.h"
#include "scores/decomposition.h"

namespace superpose {

// token [n, d_t], position [n, d_p]; query and key are [heads * d_h, d_t + d_p], the token's columns first. With
// biases there is a third, constant part; without, there are two.
ProjectedParts concatenate_full(const Matrix<double>& token, const Matrix<double>& position,
                                const Linear<double>& query, const Linear<double>& key, int heads,
                                double scale);

// Raw and block-diagonal, from queries and keys: in each head, the token's columns beside the position's.
ProjectedParts concatenate_heads(const Matrix<double>& token_query, const Matrix<double>& token_key,
                                 const Matrix<double>& position_query, const Matrix<double>& position_key,
                                 int heads, double scale);

}  // namespace superpose
