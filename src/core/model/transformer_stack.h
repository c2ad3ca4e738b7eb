// The forward pass of transformers whose input is a sum of rows, encoders and decoders (BERT, GPT-2, Llama),
// and what is needed to decompose their scores afterwards.
//
//   post-norm  x = N(e);  each layer  x = N(x + attention(x));  x = N(x + mlp(x))   (Devlin et al. 2019)
//   pre-norm   x = e;     each layer  x = x + attention(N(x));  x = x + mlp(N(x))   (Xiong et al. 2020)
//
// with e the sum of the embeddings, N any norm or none, and one more N after the last layer of a pre-norm
// stack, whose states are the sums before any norm. attention(x) = W_O concat_h(A_h (W_V x + b_V)) + b_O,
// where A_h is the softmax over the allowed keys of q'k / sqrt(d_h), with q and k as in attention.h. mlp(x)
// = W_2 g(W_1 x + b_1) + b_2, or with a gate W_2 (g(W_g x + b_g) (W_1 x + b_1)) + b_2. The embedding is the
// mean of the last layer's rows, scaled to length one.
//
// Layers are set in order, packed for the product, and a forward runs through all of them or the first few.
// The weights of a layer can be released after it has run and set again, so that a model need not fit into
// memory. The forward computes in float, as such models are usually run; docs/evidence.md says what double
// would cost and change.
#pragma once

#include <vector>

#include "model/activation.h"
#include "model/attention.h"
#include "numeric/bytes.h"
#include "numeric/product.h"
#include "scores/decomposition.h"
#include "scores/layer_norm.h"

namespace superpose {

// H query heads and G key heads of width d_h = rows of W_Q / H.
struct LayerMaps {
  PackedLinear<float> query, key, value, output;  // [H d_h, d], [G d_h, d], [G d_h, d], [d, H d_h]
  PackedLinear<float> up, gate, down;             // [inner, d], likewise or empty, [d, inner]
};

// The norms and frequencies of a layer.
struct LayerSettings {
  Normalization<float> attention_norm, mlp_norm;  // after attention and the MLP, or before them (pre-norm)
  Normalization<float> query_norm, key_norm;      // of each head, [d_h]
  std::vector<double> frequencies;                // theta_m, [pairs], of RoPE; empty without RoPE
};

struct StackOptions {
  int heads = 1;
  int key_heads = 0;  // must divide `heads`; 0 stands for as many as `heads`
  bool pre_norm = false;
  bool causal = false;  // a query sees the keys up to its own
  Activation activation = Activation::gelu;
  Normalization<float> embedding_norm, final_norm;  // kind none where there is none
};

struct ForwardOptions {
  int layers = -1;        // how many layers to run; -1 for all that were set
  bool has_more = false;  // whether the model has a layer after these, so that no final norm follows
  // Whether to store what decomposing the scores needs: rotated queries and keys, inputs, what attention and
  // MLPs write, and sigmas.
  bool trace = false;
  // [layers] or empty, each [heads * n, n] or empty: another run's attention, in place of the softmax.
  std::vector<Matrix<float>> attention;
  bool projections = false;  // whether to store queries and keys, including those of the layer after the last
};

// The result of a forward through L layers. Members that only a trace stores are empty without one.
struct Forward {
  std::vector<Matrix<float>> states;  // [L + 1], [n, d]
  std::vector<Matrix<float>> inputs;  // [L], [n, d], what W_Q and W_K read
  // [L], or [L + 1] if the model has more layers: with biases and norms of heads, but neither rotated nor
  // scaled.
  std::vector<Projections> projections;
  // [L], rotated, and the queries scaled: their products are the logits, which would take more memory for
  // more than a few tokens.
  std::vector<Projections> rotated;
  std::vector<Matrix<float>> given_attention;  // from the options
  // [L], [n, d]: what attention adds to the stream, without b_O, and what the MLP adds, without its last
  // bias.
  std::vector<Matrix<float>> attended, written;
  Vector<float> embedding_sigma;                          // [n]
  std::vector<Vector<float>> attention_sigma, mlp_sigma;  // [L], [n]
  Matrix<float> last;                                     // [n, d], after the final norm
  // [L + 1, d], the mean over tokens of each state, scaled to length one; for the last state, that of `last`.
  Matrix<float> pooled;
};

class ForwardSteps;

class TransformerStack {
 public:
  explicit TransformerStack(StackOptions options);

  // Sets the layer after the last one, or one that was released.
  void set_layer(int layer, LayerMaps&& maps, LayerSettings&& settings);
  // Frees the weights of a layer. Its norms and biases stay.
  void release_layer(int layer);
  // Whether the layer was set, and not released since.
  bool holds(int layer) const { return layer < layers() && layers_[layer].is_held; }
  int layers() const { return static_cast<int>(layers_.size()); }
  const StackOptions& options() const { return options_; }

  // The logits [n, n] of a head of a layer, for every pair, and the weights with which the head attended. The
  // run must have a trace.
  Matrix<float> logits(const Forward& run, int layer, int head) const;
  Matrix<float> attention(const Forward& run, int layer, int head) const;

  // Projects the parts of what a layer's W_Q and W_K read, [n, d] each with the constant last; the parts add
  // up to `input`. Biases join the constant. There are keys for each query head.
  ProjectedParts queries_and_keys(int layer, const Matrix<float>& input,
                                  const std::vector<Matrix<float>>& parts) const;
  // Queries and keys of a layer, before rotation; `input` [n, d] is what its W_Q and W_K read.
  Projections projections(int layer, const Matrix<float>& input) const;
  const std::vector<double>& frequencies(int layer) const { return layers_[layer].frequencies; }
  // W_O concat_h(A_h W_V x) for the attention A_h [n, n] of each head, without biases. It costs nothing if x
  // is all zeros, as parts often are.
  Matrix<float> attend(int layer, const std::vector<Matrix<float>>& attention, const Matrix<float>& x) const;
  // W_O b_V, which attention writes to every token alike, and W_O b_V + b_O.
  const Vector<float>& attention_bias(int layer) const { return layers_[layer].attention_bias; }
  const Vector<float>& attention_constant(int layer) const { return layers_[layer].attention_constant; }
  const Vector<float>& mlp_constant(int layer) const { return layers_[layer].down.bias; }
  const Normalization<float>& attention_norm(int layer) const { return layers_[layer].attention_norm; }
  const Normalization<float>& mlp_norm(int layer) const { return layers_[layer].mlp_norm; }

 private:
  friend class ForwardSteps;
  // Every map has a bias.
  struct Layer : LayerMaps, LayerSettings {
    Vector<float> attention_bias, attention_constant;
    bool is_held = true;
  };

  // Adds the biases and applies the heads' norms to the products with W_Q and W_K, in place.
  void bias_and_normalize(const Layer& layer, Projections& rows) const;
  void rotate_heads(const std::vector<double>& frequencies, Eigen::Index n, Projections& rows) const;

  StackOptions options_;
  std::vector<Layer> layers_;
};

// A forward in steps, so that a caller can pause or stop in the middle of a layer, and set a layer that is
// not held when the forward comes to it.
class ForwardSteps {
 public:
  // Runs the summed embeddings [n, d] through the layers of `stack`, which must outlive the steps. A layer
  // that has begun must stay as it is until it is complete.
  ForwardSteps(const TransformerStack& stack, Matrix<float> embeddings, ForwardOptions options);

  // Continues for about `multiplications` multiplications, though for at least one piece of a product or one
  // head, or until the next layer is one that is not held. Returns whether the forward is complete.
  bool step(double multiplications);
  // The layer that the forward has reached.
  int layer_number() const { return layer_; }
  // Complete once step() returns true.
  Forward run;

 private:
  enum Stage { kQuery, kKey, kValue, kHeads, kOutput, kUp, kGate, kDown, kStages };

  using Layer = TransformerStack::Layer;
  const Layer& layer() const { return stack_.layers_[layer_]; }
  const Matrix<float>& input() const { return stack_.options_.pre_norm ? normed_ : x_; }
  // Prepares the stage: sets the number of its pieces, and the number of multiplications in each piece.
  void start();
  bool is_complete() const { return layer_ == layers_ && stage_ == last_stage_; }
  void begin_product(const Matrix<float>& rows, const PackedLinear<float>& by, Matrix<float>& out);
  void prepare_heads();
  void attend(int head);
  void end_attention();
  void end_layer();
  void end();

  const TransformerStack& stack_;
  ForwardOptions options_;
  int layers_, layer_ = 0, stage_ = kQuery;
  int last_stage_;  // where to stop in the layer after the last one, whose queries and keys may be wanted
  Eigen::Index done_ = 0, pieces_ = 0;
  double multiplications_per_piece_ = 0;
  // The stage's product: out_ = rows_ by_'.
  const Matrix<float>* rows_ = nullptr;
  const PackedMatrix<float>* by_ = nullptr;
  Matrix<float>* out_ = nullptr;
  Matrix<float> x_, normed_, written_;
  Vector<float> sigma_;
  struct {
    Projections projections;
    Matrix<float> value, scores, context;
  } attention_;
  struct {
    Matrix<float> wide, gate;
  } mlp_;
};

// The bytes of a forward pass of n tokens through `layers` layers, with `summands` summands [n, d] and the
// parts of the layer that is decomposed. `inner` is the width of an MLP and its gate together, and
// `given_attention` counts the entries of another run's attention.
constexpr double forward_bytes(double n, double d, double summands, double layers, double query_channels,
                               double key_channels, double inner, double given_attention, bool trace,
                               bool projections) {
  const double projected = query_channels + key_channels;
  const double stored =
      layers * (trace ? 4 * d + projected : d) + (projections ? (layers + 1) * projected : 0);
  const double parts = trace && layers > 0 ? (summands + 3) * d : 0;
  const double attention = 2 * query_channels + 3 * key_channels;
  const double within = 5 * d + (attention > inner ? attention : inner) + 2 * n;
  return bytes_of_floats(n * (stored + parts + within + summands * d) + given_attention);
}

}  // namespace superpose
