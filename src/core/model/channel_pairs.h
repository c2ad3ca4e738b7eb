// Which of RoPE's wavelengths carry a head: its score as a sum over the pairs of channels that are turned together.
//
//   score_ij = sum_m s_m + rest,   s_m the product of pair m of the turned query with that of the turned key,
//
// rest the channels that are not turned and what else tells the offset. Shares of the score's variation over keys are as in
// scores/shares.h. No s_m is formed: with the centred scores A~, sum_ij A~_ij q_ic k_jc is one entry of a product of
// queries with A~ k for each channel c.
#pragma once

#include <vector>

#include "model/encoder.h"
#include "scores/shares.h"

namespace superpose {

// [heads, pairs + 1], the rest last, of a run that kept its trace and scores. They sum to 1, and are NaN where the
// scores have no shares.
template <typename Scalar>
Matrix<double> channel_pair_shares(const Encoder<Scalar>& encoder, const Forward<Scalar>& run, int layer,
                                   const std::vector<int>& heads, const CountedPairs& counted);

}  // namespace superpose
