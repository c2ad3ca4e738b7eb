// Transformers whose input is a sum of rows (BERT, GPT-2, OPT, ViT): the forward, keeping what is needed to take
// it apart afterwards.
//
//   post-LN  x = LN(e);  each layer  x = LN(x + attention(x));  x = LN(x + mlp(x))   (Devlin et al. 2019)
//   pre-LN   x = e;      each layer  x = x + attention(LN(x));  x = x + mlp(LN(x))   (Xiong et al. 2020)
//
// with e the sum of the embeddings, and one more LN after the last layer of a pre-LN encoder, whose states
// are the sums before any norm. attention(x) = W_O concat_h(A_h (W_V x + b_V)) + b_O, A_h the softmax over
// the allowed keys of q'k / sqrt(d_h), plus b[bucket(j - i)] with a relative bias (MPNet, buckets as T5's);
// mlp(x) = W_2 g(W_1 x + b_1) + b_2. No query sees padding. The embedding is the mean of the last layer's
// rows, scaled to length one. Narrow embeddings (ELECTRA) are projected after their norm.
//
// Weights are packed for the product once, when a layer is added. Layers are added in order, and a forward
// runs through all of them or the first few.
#pragma once

#include <vector>

#include "encodings/relative_position.h"
#include "model/activation.h"
#include "numeric/product.h"
#include "scores/decomposition.h"
#include "scores/layer_norm.h"

namespace superpose {

template <typename Scalar>
struct EncoderLayer {
  Linear<Scalar> query, key, value, output;  // [d, d], each with its bias [d]
  Normalization<Scalar> attention_norm;      // after attention, or before it (pre-LN)
  Linear<Scalar> up, down;                   // [inner, d], [d, inner]
  Normalization<Scalar> mlp_norm;
};

template <typename Scalar>
struct EncoderOptions {
  int heads = 1;
  bool pre_norm = false;
  bool causal = false;  // a query sees the keys up to its own
  Activation activation = Activation::gelu;
  Normalization<Scalar> embedding_norm, final_norm;  // kind none where there is none
  Linear<Scalar> projection;                         // of narrow embeddings, [d, e]; or empty
  Matrix<Scalar> relative_bias;                      // [buckets, heads]; or empty
};

template <typename Scalar>
struct ForwardOptions {
  int layers = -1;             // how many to run through; all
  std::vector<char> attended;  // [n], 0 for padding; or empty
  bool scores = false;         // keep logits and attention
  bool trace = false;  // keep inputs, values, what was written and sigmas, for taking the forward apart
  // [layers], each [n, d] or empty: subtracted from what W_Q and W_K of that layer read, from nothing else.
  std::vector<Matrix<Scalar>> unread;
  std::vector<Matrix<Scalar>> uncarried;  // likewise, from what W_V reads
  // [layers], each [heads * n, n] or empty: another run's attention, in place of the softmax.
  std::vector<Matrix<Scalar>> attention;
  Matrix<Scalar> withheld;  // [n, d] or empty: subtracted from the first state, for all that reads it
};

// The result of a run through L layers.
template <typename Scalar>
struct Forward {
  std::vector<Matrix<Scalar>> states;     // [L + 1], [n, d]
  std::vector<Matrix<Scalar>> logits;     // [L], [heads * n, n], for every pair of the n tokens
  std::vector<Matrix<Scalar>> attention;  // [L], likewise
  std::vector<Matrix<Scalar>> inputs;     // [L], [n, d], what W_Q and W_K read
  std::vector<Matrix<Scalar>> values;     // [L], [n, d], W_V x + b_V
  std::vector<Matrix<Scalar>> contexts;   // [L], [n, d], concat_h(A_h v_h)
  std::vector<Matrix<Scalar>> attended;   // [L], [n, d], by attention, without b_O
  std::vector<Matrix<Scalar>> written;    // [L], [n, d], by the MLP, without its last bias
  Vector<Scalar> embedding_sigma;         // [n]
  std::vector<Vector<Scalar>> attention_sigma, mlp_sigma;  // [L], [n]
  Matrix<Scalar> last;                                     // [n, d], after the final norm
  Matrix<Scalar>
      pooled;  // [L + 1, d], the mean over tokens of each state (of the last, of `last`), of length one
};

template <typename Scalar>
class Encoder {
 public:
  explicit Encoder(EncoderOptions<Scalar> options);

  // Copies the layer's weights.
  void add_layer(const EncoderLayer<Scalar>& layer);
  int layers() const { return static_cast<int>(layers_.size()); }
  const EncoderOptions<Scalar>& options() const { return options_; }

  // Runs the summed embeddings [n, e] through the layers.
  Forward<Scalar> forward(const Matrix<Scalar>& embeddings, const ForwardOptions<Scalar>& asked = {}) const;

  // Rows after the embedding's norm, put through the projection if there is one, without its bias.
  Matrix<Scalar> projected(const Matrix<Scalar>& rows) const;
  // Projects the parts of what a layer's W_Q and W_K read, [n, d] each with the constant last; they add up to
  // `input`. Biases join the constant.
  ProjectedParts<Scalar> queries_and_keys(int layer, const Matrix<Scalar>& input,
                                          const std::vector<Matrix<Scalar>>& parts) const;
  const Vector<Scalar>& value_bias(int layer) const { return layers_[layer].value_bias; }
  // concat_h(A_h W_V x) for attention [heads * n, n], without biases. Zeros cost nothing, and parts often are.
  Matrix<Scalar> mixed(int layer, const Matrix<Scalar>& attention, const Matrix<Scalar>& x) const;
  // W_O of that: what attention moves of x.
  Matrix<Scalar> moved(int layer, const Matrix<Scalar>& attention, const Matrix<Scalar>& x) const;
  // W_O transposed, [d, d].
  Matrix<Scalar> output_weight(int layer) const { return layers_[layer].output.transposed(); }
  // W_O b_V, which attention writes to every token alike, and the same with b_O.
  const Vector<Scalar>& moved_bias(int layer) const { return layers_[layer].moved_bias; }
  const Vector<Scalar>& attention_constant(int layer) const { return layers_[layer].attention_constant; }
  const Vector<Scalar>& mlp_constant(int layer) const { return layers_[layer].down_bias; }
  const Normalization<Scalar>& attention_norm(int layer) const { return layers_[layer].attention_norm; }
  const Normalization<Scalar>& mlp_norm(int layer) const { return layers_[layer].mlp_norm; }
  bool has_relative_bias() const { return options_.relative_bias.size() > 0; }
  // Of n tokens, [n, n], for add_relative_bias(); the same for all heads and layers.
  Indices relative_buckets(Eigen::Index n) const;
  // Adds b[bucket(j - i)] of a head to scores [n, n], and writes it alone to `alone` unless that is null.
  void add_relative_bias(int head, const Indices& buckets, Scalar* scores, Scalar* alone) const;

 private:
  struct Packed {
    PackedStack<Scalar> query_key_value, output, up, down;
    Vector<Scalar> query_bias, key_bias, value_bias, output_bias, up_bias, down_bias, moved_bias,
        attention_constant;
    Normalization<Scalar> attention_norm, mlp_norm;
  };

  void attend(const Packed& layer, const Matrix<Scalar>& read, const Matrix<Scalar>& values_of,
              const Matrix<Scalar>& given, const Indices& buckets, const ForwardOptions<Scalar>& asked,
              Forward<Scalar>& run, Matrix<Scalar>& out) const;

  EncoderOptions<Scalar> options_;
  std::vector<Packed> layers_;
  PackedStack<Scalar> projection_;
};

}  // namespace superpose
