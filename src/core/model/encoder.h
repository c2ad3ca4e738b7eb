// Transformers whose input is a sum of rows (BERT, GPT-2, Llama, T5's encoder, ViT): the forward, keeping what is
// needed to take it apart afterwards.
//
//   post-norm  x = N(e);  each layer  x = N(x + attention(x));  x = N(x + mlp(x))   (Devlin et al. 2019)
//   pre-norm   x = e;     each layer  x = x + attention(N(x));  x = x + mlp(N(x))   (Xiong et al. 2020)
//   parallel   x = e;     each layer  x = x + attention(N(x)) + mlp(N'(x))          (GPT-NeoX, arXiv 2204.06745)
//
// with e the sum of the embeddings, N any norm or none, and one more N after the last layer of a pre-norm encoder,
// whose states are the sums before any norm. What attention or an MLP writes may go through one more before it is
// added (Gemma 2, arXiv 2408.00118). attention(x) = W_O concat_h(A_h (W_V x + b_V)) + b_O, A_h the softmax over the
// allowed keys of q'k / sqrt(d_h) and what attention.h adds or changes, with a cap c of c tanh(score / c);
// mlp(x) = W_2 g(W_1 x + b_1) + b_2, or with a gate W_2 (g(W_g x + b_g) (W_1 x + b_1)) + b_2. No query sees padding.
// The embedding is the mean of the last layer's rows, scaled to length one. Narrow embeddings (ELECTRA) are projected
// after their norm. Without layers, g may follow: a convolution (Whisper) is that of unfolded rows.
//
// Layers are added in order, packed for the product, and a forward runs through all of them or the first few.
#pragma once

#include <vector>

#include "model/activation.h"
#include "model/attention.h"
#include "numeric/product.h"
#include "scores/decomposition.h"
#include "scores/layer_norm.h"

namespace superpose {

// A row for each distance of two tokens, of which a layer's maps make keys and queries.
template <typename Scalar>
struct DistanceTable {
  Matrix<Scalar> rows;            // [2k, d]; or empty
  Normalization<Scalar> norm;     // of each row
  int buckets = 0, furthest = 0;  // see deberta_row()
};

// H query heads and G key heads of width d_h = rows of W_Q / H.
template <typename Scalar, typename Map = PackedLinear<Scalar>>
struct EncoderLayer {
  Map query, key, value, output;         // [H d_h, d], [G d_h, d], [G d_h, d], [d, H d_h]
  Normalization<Scalar> attention_norm;  // after attention, or before it (pre-norm)
  Map up, down;                          // [inner, d], [d, inner]
  Normalization<Scalar> mlp_norm;
  Map gate = {};                                         // [inner, d], or empty
  Normalization<Scalar> query_norm = {}, key_norm = {};  // of each head, [d_h]
  Rotary rotary = {};
  int window = kEverywhere;
  Normalization<Scalar> output_norm = {}, down_norm = {};  // of what attention and the MLP write
  Map distance_key = {}, distance_query = {};              // [H d_h, d], of the table of distances; or empty
};

template <typename Scalar>
struct EncoderOptions {
  int heads = 1;
  int key_heads = 0;  // dividing the heads; 0 for as many
  bool pre_norm = false;
  bool parallel = false;  // pre-norm only
  bool causal = false;    // a query sees the keys up to its own
  Activation activation = Activation::gelu;
  Normalization<Scalar> embedding_norm, final_norm;  // kind none where there is none
  Linear<Scalar> projection;                         // of narrow embeddings, [d, e]; or empty
  Matrix<Scalar> relative_bias;                      // [buckets, heads]; or empty
  Vector<Scalar> slopes = {};                        // [heads]; or empty
  Scalar cap = 0;                                    // of scores, before the mask; 0 for none
  DistanceTable<Scalar> distances = {};              // where layers have maps of it, they turn nothing
  bool activated = false;                            // what is projected is activated; without layers only
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
  Matrix<Scalar> withheld;   // [n, d] or empty: subtracted from the first state, for all that reads it
  bool projections = false;  // keep queries and keys
};

// Queries and keys of all heads: biases and norms of heads included, not turned and not scaled.
template <typename Scalar>
struct Projections {
  Matrix<Scalar> queries, keys;  // [n, H d_h], [n, G d_h]
};

// The result of a run through L layers.
template <typename Scalar>
struct Forward {
  std::vector<Matrix<Scalar>> states;            // [L + 1], [n, d]
  std::vector<Matrix<Scalar>> logits;            // [L], [heads * n, n], for every pair, before any cap
  std::vector<Matrix<Scalar>> attention;         // [L], likewise
  std::vector<Matrix<Scalar>> inputs;            // [L], [n, d], what W_Q and W_K read
  std::vector<Projections<Scalar>> projections;  // [L]
  std::vector<Matrix<Scalar>> values;            // [L], [n, G d_h], W_V x + b_V
  std::vector<Matrix<Scalar>> contexts;          // [L], [n, H d_h], concat_h(A_h v_h)
  // [L], [n, d], by attention, without b_O, and by the MLP, without its last bias, before any norm of theirs
  std::vector<Matrix<Scalar>> attended, written;
  Vector<Scalar> embedding_sigma;                          // [n]
  std::vector<Vector<Scalar>> attention_sigma, mlp_sigma;  // [L], [n]
  std::vector<Vector<Scalar>> output_sigma, down_sigma;    // likewise
  Matrix<Scalar> last;                                     // [n, d], after the final norm
  Matrix<Scalar>
      pooled;  // [L + 1, d], the mean over tokens of each state (of the last, of `last`), of length one
};

template <typename Scalar>
class ForwardSteps;

template <typename Scalar>
class Encoder {
 public:
  explicit Encoder(EncoderOptions<Scalar> options);

  void add_layer(EncoderLayer<Scalar>&& layer);
  int layers() const { return static_cast<int>(layers_.size()); }
  const EncoderOptions<Scalar>& options() const { return options_; }

  // Runs the summed embeddings [n, e] through the layers.
  Forward<Scalar> forward(const Matrix<Scalar>& embeddings, const ForwardOptions<Scalar>& asked = {}) const;

  // Rows after the embedding's norm, put through the projection if there is one, without its bias.
  Matrix<Scalar> projected(const Matrix<Scalar>& rows) const;
  // Projects the parts of what a layer's W_Q and W_K read, [n, d] each with the constant last; they add up to
  // `input`. Biases join the constant. Keys are those of each query head.
  ProjectedParts<Scalar> queries_and_keys(int layer, const Matrix<Scalar>& input,
                                          const std::vector<Matrix<Scalar>>& parts) const;
  // Of what the layer's W_Q and W_K read.
  Projections<Scalar> projections(int layer, const Matrix<Scalar>& input) const;
  // The same, turned.
  Projections<Scalar> turned(int layer, const Matrix<Scalar>& input) const;
  const Rotary& rotary(int layer) const { return layers_[layer].rotary; }
  // b_V as each query head reads it, [H d_h].
  Vector<Scalar> value_bias(int layer) const {
    const Matrix<Scalar> row = layers_[layer].value.bias.transpose();
    return of_query_heads(row, options_.key_heads, options_.heads).row(0).transpose();
  }
  // concat_h(A_h W_V x) for attention [heads * n, n], without biases. Zeros cost nothing, and parts often are.
  Matrix<Scalar> mixed(int layer, const Matrix<Scalar>& attention, const Matrix<Scalar>& x) const;
  // W_O of that: what attention moves of x.
  Matrix<Scalar> moved(int layer, const Matrix<Scalar>& attention, const Matrix<Scalar>& x) const;
  // W_O transposed, [H d_h, d].
  Matrix<Scalar> output_weight(int layer) const { return layers_[layer].output.weight.transposed(); }
  // W_O b_V, which attention writes to every token alike, and the same with b_O.
  const Vector<Scalar>& moved_bias(int layer) const { return layers_[layer].moved_bias; }
  const Vector<Scalar>& attention_constant(int layer) const { return layers_[layer].attention_constant; }
  const Vector<Scalar>& mlp_constant(int layer) const { return layers_[layer].down.bias; }
  const Normalization<Scalar>& attention_norm(int layer) const { return layers_[layer].attention_norm; }
  const Normalization<Scalar>& mlp_norm(int layer) const { return layers_[layer].mlp_norm; }
  const Normalization<Scalar>& output_norm(int layer) const { return layers_[layer].output_norm; }
  const Normalization<Scalar>& down_norm(int layer) const { return layers_[layer].down_norm; }
  // See offset_bias(); the same for all layers.
  Matrix<Scalar> score_bias(Eigen::Index n) const {
    return offset_bias(options_.relative_bias, options_.slopes, n);
  }
  int window(int layer) const { return layers_[layer].window; }
  // What a layer's maps make of the distance, [2n - 1, H d_h] each or empty, that of j - i in row j - i + n - 1.
  Projections<Scalar> of_offsets(int layer, Eigen::Index n) const { return of_offsets(layers_[layer], n); }

 private:
  friend class ForwardSteps<Scalar>;
  // Every map has a bias.
  struct Layer : EncoderLayer<Scalar> {
    Vector<Scalar> moved_bias, attention_constant;
    Matrix<Scalar> distance_keys, distance_queries;  // [2k, H d_h]; or empty
  };

  Projections<Scalar> projections(const Layer& layer, const Matrix<Scalar>& read) const;
  // Of products with W_Q and W_K.
  void bias_and_normalize(const Layer& layer, Projections<Scalar>& both) const;
  Projections<Scalar> of_offsets(const Layer& layer, Eigen::Index n) const;
  void turn_heads(const Rotary& rotary, Eigen::Index n, Projections<Scalar>& both) const;

  EncoderOptions<Scalar> options_;
  std::vector<Layer> layers_;
  PackedMatrix<Scalar> projection_;
};

// A forward that is gone on with step by step, so that it can be left in the middle of a layer.
template <typename Scalar>
class ForwardSteps {
 public:
  // The encoder stays in use, and gets no layers meanwhile.
  ForwardSteps(const Encoder<Scalar>& encoder, Matrix<Scalar> embeddings, ForwardOptions<Scalar> asked);

  // Goes on for so many multiplications, and at least for one piece of a product or one head. Whether all is done.
  bool step(double multiplications);
  // Complete when all is done.
  Forward<Scalar> run;

 private:
  enum Stage { kQuery, kKey, kValue, kHeads, kOutput, kUp, kGate, kDown, kStages };

  using Layer = typename Encoder<Scalar>::Layer;
  const Layer& layer() const { return encoder_.layers_[layer_]; }
  const Matrix<Scalar>& input() const { return encoder_.options_.pre_norm ? normed_ : x_; }
  const Matrix<Scalar>& given(const std::vector<Matrix<Scalar>>& all) const;
  // Prepares the stage, and says in how many pieces it is cut, of how many multiplications each.
  void start();
  void begin_product(const Matrix<Scalar>& rows, const PackedLinear<Scalar>& by, Matrix<Scalar>& out);
  void prepare_heads();
  void attend(int head);
  void end_attention();
  void end_layer();
  void end();
  void add_written(const Vector<Scalar>& bias, const Normalization<Scalar>& norm,
                   std::vector<Vector<Scalar>>& sigmas);

  const Encoder<Scalar>& encoder_;
  ForwardOptions<Scalar> asked_;
  Matrix<Scalar> bias_;
  int layers_, layer_ = 0, stage_ = kQuery;
  Eigen::Index done_ = 0, pieces_ = 0;
  double each_ = 0;
  // The product that a stage is: out_ = rows_ by_'.
  const Matrix<Scalar>* rows_ = nullptr;
  const PackedMatrix<Scalar>* by_ = nullptr;
  Matrix<Scalar>* out_ = nullptr;
  Matrix<Scalar> x_, normed_, wrote_;
  Vector<Scalar> sigma_;
  struct {
    Matrix<Scalar> read, carried;  // where they are not the layer's input
    Projections<Scalar> both, offsets;
    Matrix<Scalar> value, keys, scores, context;  // keys transposed
  } attention_;
  struct {
    Matrix<Scalar> wide, gate;
  } mlp_;
};

}  // namespace superpose
