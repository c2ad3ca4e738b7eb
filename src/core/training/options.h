// The options of a model to train, and of its optimizer.
#pragma once

#include <array>
#include <cmath>

namespace superpose {

// How the order of the tokens gets into the model. A scheme whose scores are those of an entry of
// scores/scheme_registry.h has that entry's name, except three whose names also say where the widths come
// from: the scores of concat and concat_wide are those of concat-full, and tupe's are those of tupe-a without
// its reset.
enum class TrainingScheme {
  none,
  add,          // x = e + p
  concat,       // x = [e | p], in the same width
  concat_wide,  // x = [e | p], each as wide as d_model: a stream of twice that width
  tupe,   // x = e; c' (p_i U_q)_h . (p_j U_k)_h added to the scores (TUPE, arXiv 2006.15595, equation 7)
  rope,   // queries and keys rotated, channels (2k, 2k + 1) (arXiv 2104.09864)
  alibi,  // -alibi_slopes(H)[h] |i - j| added to the scores (arXiv 2108.12409)
  t5,     // a trained bias for each head and offset (arXiv 1910.10683), one bucket per offset
  add_to_queries_keys,  // x = e; queries and keys of every layer read x + p, values read x
  project,              // x = [e | p] W_f
  multiply,             // x = e (1 + p)
};
constexpr std::array<const char*, 11> names(TrainingScheme) {
  return {"none",    "add",     "concat", "concat-wide", "tupe", "rope", "alibi", "t5", "add-to-queries-keys",
          "project", "multiply"};
}

// Where the position rows P come from, under a scheme that has them.
enum class Table {
  learned,   // drawn, and trained unless fixed_positions
  sinusoid,  // sigma_positions sqrt(2) sin, cos of i 10000^(-2k/d_p), interleaved; not trained
};
constexpr std::array<const char*, 2> names(Table) { return {"learned", "sinusoid"}; }

// From tokens [n] to logits [n, classes]: e = E[t] and positions, layers of attention, and an unembedding
// W_u that is not E. Nothing has a bias, and LayerNorm has only a gain, so a score is exactly the four terms
// of e and p. Weights are [in, out]; rows are tokens.
struct ModelOptions {
  int vocabulary = 16;  // V >= 1
  int classes = 16;     // V_out >= 1
  int positions = 16;   // L >= 1: the longest sequence, and the number of rows of P
  TrainingScheme scheme = TrainingScheme::add;
  Table table = Table::learned;
  int d_model = 32;     // D; the stream has 2 D channels in concat_wide
  int d_position = 16;  // d_p of concat, 0 < d_p < D
  int heads = 2;        // a divisor of the stream's width; for rope the quotient is even
  int layers = 1;
  bool layer_norm = true;        // before attention and before the unembedding
  bool causal = false;           // keys j <= i
  bool zero_scores = false;      // all scores are 0: the floor of a task, where attention chooses nothing
  bool fixed_tokens = false;     // E stays as it was drawn
  bool fixed_positions = false;  // P stays as it was drawn; a sinusoid always does
  bool scale_tokens = false;     // e = sqrt(d_token) E[t] (arXiv 1706.03762, 3.4)
  double sigma_tokens = 0.1;     // E ~ N(0, sigma_tokens^2)
  double sigma_positions = 0.1;  // P ~ N(0, sigma_positions^2); a sinusoid's rows have this rms

  // The channels of the stream, of a row of P, and of a row of E.
  int stream() const { return scheme == TrainingScheme::concat_wide ? 2 * d_model : d_model; }
  int position_channels() const {
    return scheme == TrainingScheme::concat ? d_position : has_table() ? d_model : 0;
  }
  int d_token() const { return scheme == TrainingScheme::concat ? d_model - d_position : d_model; }
  double token_scale() const { return scale_tokens ? std::sqrt(d_token()) : 1; }
  int d_head() const { return stream() / heads; }
  float score_scale() const {
    return static_cast<float>(1 / std::sqrt((scheme == TrainingScheme::tupe ? 2.0 : 1.0) * d_head()));
  }

  // Whether tokens and positions are summands of one stream.
  bool in_stream() const {
    return scheme == TrainingScheme::add || scheme == TrainingScheme::project ||
           scheme == TrainingScheme::concat || scheme == TrainingScheme::concat_wide;
  }
  // Whether the first layer's queries and keys read a sum of tokens and positions.
  bool sums() const { return in_stream() || scheme == TrainingScheme::add_to_queries_keys; }
  bool has_table() const {
    return sums() || scheme == TrainingScheme::tupe || scheme == TrainingScheme::multiply;
  }
  // Whether anything besides a mask is added to scores.
  bool has_bias() const {
    return scheme == TrainingScheme::tupe || scheme == TrainingScheme::alibi || scheme == TrainingScheme::t5;
  }
  // Whether a score of the first layer is a sum of terms of tokens and positions.
  bool has_terms() const { return (sums() || scheme == TrainingScheme::tupe) && !zero_scores; }
  bool trains_tokens() const { return !fixed_tokens; }
  bool trains_positions() const { return has_table() && table == Table::learned && !fixed_positions; }
};

// The factor of the learning rate at step s, apart from the warm-up: cosine is 0.1 + 0.45 (1 + cos(pi s /
// steps)) up to `steps`, and constant after that; constant is 1.
enum class Schedule { cosine, constant };
constexpr std::array<const char*, 2> names(Schedule) { return {"cosine", "constant"}; }

// AdamW (Loshchilov and Hutter, arXiv 1711.05101) with warm-up and gradient clipping; s counts from 1:
//   lr_s = lr min(1, s / warm_up) schedule(s)
struct OptimizerOptions {
  double learning_rate = 5e-3;
  double weight_decay = 0.01;  // of everything except gains: theta (1 - lr_s wd)
  Schedule schedule = Schedule::cosine;
  int warm_up = 20;  // >= 0
  int steps = 200;   // >= 1
};

}  // namespace superpose
