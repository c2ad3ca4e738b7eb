// The input of an encoder's layer as a sum: how much of it comes from tokens, positions, attention or MLPs.
//
// With every sigma and every A_h frozen, a forward is linear in its input. The parts are the summands of the
// embedding, then
//
//   attention  what attention writes, without its biases
//   mlp        what MLPs write, without their biases
//   constant   biases, betas and what the gauge subtracts
//
// and they add up to the input of W_Q and W_K of any layer. What attention writes can be divided in two ways:
//
//   direct   all of it is `attention`; the summands go through the residual stream alone (Mickus, Paperno &
//            Constant, TACL 2022)
//   streams  A_h moves the parts: each x becomes x + W_O concat_h(A_h W_V x), and `attention` stays empty.
//            What MLPs wrote is moved like the others, and stays in `mlp`
//
// A third way, by means over a corpus, follows no path: h_i = mu + pos_i + content_i (position_means.h).
//
// The gauge. A shift of the summands that no state sees (t + a, p - a) travels through the layers with its
// part, so subtracting the means of a later layer's parts does not remove it. Canonical means are therefore
// subtracted twice: at the embedding, with weights 1 / sigma of the norm before the first W_Q, and again
// before a layer's scores, with weights 1 (pre-LN: 1 / sigma). Rows that stand apart are all constant in both
// places. Given means are subtracted at the embedding only.
#pragma once

#include <vector>

#include "model/encoder.h"
#include "scores/gauge.h"

namespace superpose {

enum class Way { direct, streams };

// The parts of what W_Q and W_K of `layer` read: the summands, attention, mlp, constant, each [n, d].
// summands are [n, e] and add up to the input of `run`, which needs a trace, scores up to that layer, and no
// padding.
template <typename Scalar>
std::vector<Matrix<Scalar>> input_parts(const Encoder<Scalar>& encoder,
                                        const std::vector<Matrix<Scalar>>& summands,
                                        const Forward<Scalar>& run, int layer, Way way,
                                        const Gauge<Scalar>& gauge);

// position, content, constant: pos_i for each row from 1 on, what is left, and mu, [d]. Row 0 has no
// position, so there may be one row more than positions [t, d]. In the canonical gauge the means of the first
// two join the constant, and so do rows that stand apart.
template <typename Scalar>
std::vector<Matrix<Scalar>> mean_parts(const Matrix<Scalar>& input, const Vector<Scalar>& mu,
                                       const Matrix<Scalar>& positions, const Gauge<Scalar>& gauge);

}  // namespace superpose
