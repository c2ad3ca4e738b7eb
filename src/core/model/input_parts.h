// The input of a layer as a sum: how much of it comes from tokens, positions, attention or MLPs.
//
// With every sigma and every A_h fixed, a forward is linear in its input. The parts are the summands of the
// embedding, then
//
//   attention  what attention writes, without its biases
//   mlp        what MLPs write, without their biases
//   constant   biases, betas and what the gauge subtracts
//
// and they add up to the input of W_Q and W_K of any layer. What attention writes can be divided in two
// ways:
//
//   direct   all of it is `attention`; the summands go through the residual stream alone
//            (Mickus, Paperno & Constant, TACL 2022)
//   streams  A_h moves the parts: each x becomes x + W_O concat_h(A_h W_V x), and `attention` stays empty.
//            What MLPs wrote is moved like the others, and stays in `mlp`
//
// A third way, by means over a corpus, follows no path: h_i = mu + pos_i + content_i (position_means.h). If
// a norm comes before W_Q, the three go through it like any other parts.
//
// The gauge. A shift of the summands that changes no state (t + a, p - a) goes through the layers with its
// part, so subtracting the means of a later layer's parts does not remove it. Canonical means are therefore
// subtracted twice: at the embedding, with weights 1 / sigma of the norm before the first W_Q, and again
// before a layer's scores, with weights 1 (pre-norm: 1 / sigma). In both places excluded rows belong entirely
// to the constant.
#pragma once

#include <array>
#include <vector>

#include "model/transformer_stack.h"
#include "numeric/bytes.h"
#include "scores/gauge.h"

namespace superpose {

enum class Way { direct, streams, mean };
constexpr std::array<const char*, 3> names(Way) { return {"direct", "streams", "mean"}; }

// The parts of what W_Q and W_K read: the summands, attention, mlp, constant, each [n, d]. The parts of a
// layer are computed from those of the layer before, so that calls with ascending layers go through the run
// once. The summands [n, d] add up to the input of `run`, which needs a trace up to the last layer that is
// used. Stack, summands and run must outlive the object.
class InputParts {
 public:
  InputParts(const TransformerStack& stack, const std::vector<Matrix<float>>& summands, const Forward& run,
             Way way, Gauge gauge);

  std::vector<Matrix<float>> at(int layer);

 private:
  void start();
  void advance(int layer);
  const TransformerStack& stack_;
  const std::vector<Matrix<float>>& summands_;
  const Forward& run_;
  Way way_;
  Gauge gauge_;
  std::vector<Matrix<float>> parts_;  // of the residual stream before layer_
  int layer_ = 0;
};

// The bytes that `streams` needs besides the parts: the attention weights of all heads of a layer.
constexpr double streams_bytes(double n, double heads) { return bytes_of_floats(heads * n * n); }

// A state's means over a corpus.
struct StateMeans {
  Vector<double> mean;      // mu, [d]
  Matrix<double> position;  // [t, d], pos_i of the rows from `first` on; earlier rows have no position
  int first = 1;
};

// The parts of what W_Q and W_K of `layer` read: position, content, constant, which are pos_i, the rest, and
// mu. There are at most first + t rows. In the canonical gauge the means of the first two parts join the
// constant, and so do excluded rows.
std::vector<Matrix<float>> mean_parts(const TransformerStack& stack, const Forward& run, int layer,
                                      const StateMeans& means, const Gauge& gauge);

// Adds up the parts of each group before they are projected, which is half the work of doing so afterwards.
// Part p is in group_of[p]. The result is [groups], in order, except that the group of the last part, the
// constant, comes last, because biases join it in the projection.
std::vector<Matrix<float>> group_inputs(std::vector<Matrix<float>> parts, const std::vector<int>& group_of,
                                        int groups);

// Restores the order of the projected groups: the last of them goes back to the place `constant`.
ProjectedParts in_order_of_groups(ProjectedParts parts, int constant);

}  // namespace superpose
