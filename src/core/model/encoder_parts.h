// What a layer of an encoder reads, as a sum: how much of it is token, position, attention's or an MLP's doing.
//
// With every sigma and every A_h frozen at what they are, a forward is linear in what it starts from. The parts are
// the summands of the embedding, then
//
//   attention  what attention writes, less its biases
//   mlp        what MLPs write, less their biases
//   constant   biases, betas and what the gauge takes
//
// and add up to the input of W_Q and W_K of any layer. Two ways to share out what attention writes:
//
//   direct   it is all `attention`; the summands go through the residual stream alone (Mickus, Paperno & Constant,
//            TACL 2022)
//   streams  A_h moves the parts: x becomes x + W_O concat_h(A_h W_V x) for each, and `attention` stays empty. What
//            MLPs wrote is moved like the others, and stays in `mlp`
//
// A third, by means over a corpus, needs no path: h_i = mu + pos_i + content_i (position_means.h).
//
// The gauge. A shift of the summands that no state sees (t + a, p - a) travels through the layers with its part, so
// taking the means of a later layer's parts would not be enough to remove it. Canonical means are therefore taken
// twice: at the embedding, with weights 1 / sigma of the norm before the first W_Q, and again before a layer's
// scores, with weights 1 (pre-LN: 1 / sigma). Rows that stand apart are all constant in both places. Given means are
// taken at the embedding only.
#pragma once

#include <vector>

#include "model/encoder.h"
#include "scores/gauge.h"

namespace superpose {

enum class Way { direct, streams };

// Of what W_Q and W_K of `layer` read: the summands, attention, mlp, constant, each [n, d]. summands are [n, e] and
// add up to what `run`, which has a trace and scores up to that layer, started from; no padding.
template <typename Scalar>
std::vector<Matrix<Scalar>> input_parts(const Encoder<Scalar>& encoder,
                                        const std::vector<Matrix<Scalar>>& summands,
                                        const Forward<Scalar>& run, int layer, Way way,
                                        const Gauge<Scalar>& gauge);

// position, content, constant: pos_i for each row from 1 on, what is left, and mu, [d]. Row 0 has no position, and
// there are at most one row more than positions [t, d]. In the canonical gauge the means of the first two join the
// constant, and so do rows apart.
template <typename Scalar>
std::vector<Matrix<Scalar>> mean_parts(const Matrix<Scalar>& input, const Vector<Scalar>& mu,
                                       const Matrix<Scalar>& positions, const Gauge<Scalar>& gauge);

}  // namespace superpose
