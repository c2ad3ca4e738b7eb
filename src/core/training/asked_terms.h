// What the first layer's scores of a trained model ask where positions have no rows: without positions, and under
// RoPE, ALiBi and T5. The terms are those of scores/asked.h, with the batch's tokens for all tokens; the first
// layer reads tokens alone, so nothing of a query or a key is its place's.
#pragma once

#include <array>

#include "scores/asked.h"
#include "training/model.h"

namespace superpose {

// The four terms of tokens and positions come first.
static_assert(static_cast<int>(Asked::token_token) == token_token &&
              static_cast<int>(Asked::position_position) == position_position);

// Which terms a score keeps.
using AskedTerms = std::array<bool, kAsked>;

// [H, kAsked]: each term's share of the scores' variation, as trained_shares() has it. Rows are NaN where scores do
// not vary. Here and below, only without options().has_table() and zero_scores.
template <typename Scalar>
Matrix<double> asked_shares(Model<Scalar>& model, const Scalar* parameters, const Batch& batch);

// The evaluation with the first layer's scores made of the kept terms.
template <typename Scalar>
Evaluation evaluate_asked(Model<Scalar>& model, const Scalar* parameters, const Batch& batch,
                          const AskedTerms& kept);

}  // namespace superpose
