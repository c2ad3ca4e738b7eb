// Schemes that give positions to attention: the logits of one layer under each of them are sums of named
// terms over the same queries and keys, so that schemes can be compared.
//
// A scheme is a list of terms, and a term is of one of four kinds, per head:
//
//   product       scale * q_i . k_j
//   gather_keys   scale * q_i . r_t       with t = index(i, j), a row of a table of positions
//   gather_queries  scale * r_t . k_j     likewise
//   table         scale * b_{t, h}        a number per row and head: a bias
//
// Dot products with a table are computed once for each of its rows, not for each pair of tokens.
//
// "Concatenate the position" can mean three things:
//
//   raw             [x; rho p] . [y; rho q], no weights: two terms, no cross terms.
//   full            any W_Q, W_K on the joined vector: all four terms, from four independent blocks
//                   that together have rank at most d_h. Adding is the case with two equal blocks.
//   block-diagonal  token and position have separate projections and head dimensions: the cross
//                   terms are zero and the score is a sum of two scores (TUPE, arXiv 2006.15595, eq. 7).
#pragma once

#include <optional>
#include <vector>

#include "encodings/relative_position.h"
#include "encodings/rotary.h"
#include "numeric/product.h"

namespace superpose {

enum class Lookup { product, gather_keys, gather_queries, table };

// What the rows of a query or a key vary with. A vector that all rows share counts as place.
enum class Varies { token, place };

struct ScoreTerm {
  const char* name = "";
  Lookup lookup = Lookup::product;
  Matrix<double> query;  // [n, heads * w]; gather_queries: [rows, heads * w]; table: empty
  Matrix<double> key;    // [n, heads * w]; gather_keys: [rows, heads * w]; table: [rows, heads]
  double scale = 1;
  Indices index;  // [n, n], below the table's rows; empty for a product
  // What the rows [n] of queries and of keys vary with; not used for a table.
  Varies query_varies = Varies::token;
  Varies key_varies = Varies::token;
  std::optional<RotaryOptions> rotation = {};  // of the queries and keys of a product, if they were rotated
};

struct Scheme {
  Eigen::Index n = 0;
  int heads = 1;
  std::vector<ScoreTerm> terms;
  // The same logits from fewer terms, by joined queries and keys. Empty if there is no such form:
  // then logits are summed pair by pair, over the channels of all terms at once.
  std::vector<ScoreTerm> joined;
  bool causal = false;  // a query i sees only the keys j <= i
};

// The queries and keys of the content, which every scheme shares: [n, heads * d_h].
struct Content {
  Matrix<double> query;
  Matrix<double> key;
  int heads = 1;
};

// content [n, d]; query and key [heads * d_h, d].
Content project_content(const Matrix<double>& content, const Linear<double>& query, const Linear<double>& key,
                        int heads);

// One head: terms gets the terms [n, n] one after another; logits [n, n] gets the sum of the `joined` terms
// or, if there are none, the sum pair by pair. Returns the residual max_ij |sum of terms - logits|. No mask
// is applied: see softmax_rows.
double scheme_head_terms(const Scheme& scheme, int head, double* terms, double* logits);

// q_i . k_j * scale: no position at all (Haviv et al., arXiv 2203.16634, when causal).
Scheme none(const Content& content, double scale);

// W_Q (x_i + p_i) . W_K (x_j + p_j) * scale, scale 1/sqrt(d_h): four terms, biases with the content.
// content and position [n, d].
Scheme add(const Matrix<double>& content, const Matrix<double>& position, const Linear<double>& query,
           const Linear<double>& key, int heads, double scale);

// (x_i . x_j + p_i . p_j) * scale, scale 1: there are no weights, so all heads are alike. position [n, d_p].
Scheme concat_raw(const Matrix<double>& content, const Matrix<double>& position, int heads, double scale);

// [W_Q U_Q][x_i; p_i] . [W_K U_K][x_j; p_j] * scale, scale 1/sqrt(d_h): four terms, biases with the
// content. position_query and position_key, U_Q and U_K, are [heads * d_h, d_p].
Scheme concat_full(const Matrix<double>& content, const Matrix<double>& position, const Linear<double>& query,
                   const Linear<double>& key, const Matrix<double>& position_query,
                   const Matrix<double>& position_key, int heads, double scale);

// (q_i . k_j + q^p_i . k^p_j) * scale, scale 1/sqrt(d_h + d_hp): the position has separate queries and keys
// [n, heads * d_hp].
Scheme concat_block_diagonal(const Content& content, const Content& position, double scale);

// q_i . (k_j + a_clip(j - i)) * scale, scale 1/sqrt(d_h). offset_keys [2k + 1, d_h], shared by the
// heads (Shaw et al., arXiv 1803.02155, equation 4; equation 5's computation).
Scheme shaw(const Content& content, const Matrix<double>& offset_keys, double scale);

// (q_i + u) . k_j + (q_i + v) . W_kR R_{i-j}, all times scale, 1/sqrt(d_h) (Dai et al., arXiv
// 1901.02860, section 3.3; u is r_w_bias and v r_r_bias in kimiyoung/transformer-xl). offsets
// [2n - 1, d_r], row t for i - j = t - (n - 1); offset_key [heads * d_h, d_r]; u, v [heads * d_h].
Scheme transformer_xl(const Content& content, const Matrix<double>& offsets, const Linear<double>& offset_key,
                      const Vector<double>& u, const Vector<double>& v, double scale);

// q_i . k_j * scale + bias_{bucket(j - i), h}. T5's scale is 1: its 1/sqrt(d) is in the
// initialization of W_Q (tensorflow/mesh, attention.py, fold_scaling_into_initializer). bias
// [buckets, heads] (Raffel et al., arXiv 1910.10683, section 2.1).
Scheme t5(const Content& content, const Matrix<double>& bias, const T5Options& options, double scale);

// q_i . k_j * scale - m_h (i - j), scale 1/sqrt(d_h) (Press et al., arXiv 2108.12409, section 3).
// With causal = false, -m_h |i - j|: the same on the pairs that the paper's models see.
Scheme alibi(const Content& content, double scale, bool causal);

// (q_i . k_j + q_i . k^r_delta(i,j) + k_j . q^r_delta(j,i)) * scale, scale 1/sqrt(3 d_h): content to content,
// content to position, and position to content (He et al., arXiv 2006.03654, equation 4; the released code
// looks up delta(i, j) in the last term too). distances [2k, d]; position_query and position_key,
// [heads * d_h, d], map them to q^r and k^r.
Scheme deberta(const Content& content, const Matrix<double>& distances, const Linear<double>& position_query,
               const Linear<double>& position_key, double scale);

// q_i . k_j * scale + v_ij with v_ij = (p_i U^Q) . (p_j U^K) * scale, scale 1/sqrt(2 d_h), and the reset of
// [CLS], token 0 (Ke, He, Liu, arXiv 2006.15595, equations 7 to 9; guolinke/TUPE): v is set to theta_2 in the
// first column and then to theta_1 in the first row, (0, 0) included. position [n + 1, d] is normalized
// already: the scores of its rows 0 and 1 with themselves are theta_1 and theta_2, and token i has row i + 1.
// The released U^Q and U^K have biases. bias is empty (TUPE-A) or [buckets + 1, heads] (TUPE-R), looked up by
// tupe_buckets. The released code adds the bias after the reset. Equation 9 resets the bias as well, which is
// the same as zeros in the bias's rows buckets/2 and buckets.
Scheme tupe(const Content& content, const Matrix<double>& position, const Linear<double>& position_query,
            const Linear<double>& position_key, const Matrix<double>& bias, const T5Options& options,
            double scale);

// q_i . k_j * scale + p^Q_i . p^K_j, scale 1/sqrt(d_h) for the first term alone (Chen et al., arXiv
// 2104.08698, DIET-ABS, without its bias for segments). position_query, position_key [n, heads * d_p].
Scheme diet_abs(const Content& content, const Matrix<double>& position_query,
                const Matrix<double>& position_key, double scale);

// The same with R_{clip(i - j)} instead of p^Q_i . p^K_j (DIET-REL). bias [2k + 1, heads], row (i - j) + k.
Scheme diet_rel(const Content& content, const Matrix<double>& bias, double scale);

// R_i q_i . R_j k_j * scale, scale 1/sqrt(d_h); d_h even. See rotary.h.
Scheme rope(const Content& content, Layout layout, double base, double scale);

// [q_i; R_i q^r_i] . [k_j; R_j k^r_j] * scale, scale 1/sqrt(d_nope + d_rope): content concatenated with a
// rotary part. Logits are computed from this concatenation, and terms as the sum of two scores (DeepSeek-V2,
// arXiv 2405.04434, section 2.1.3; deepseek-ai/DeepSeek-V3, inference/model.py). rotary_query is
// [n, heads * d_rope]; rotary_key is [n, heads * d_rope] or, as in that model, [n, d_rope], which all heads
// share. d_rope is even.
Scheme decoupled_rope(const Content& content, const Matrix<double>& rotary_query,
                      const Matrix<double>& rotary_key, Layout layout, double base, double scale);

}  // namespace superpose
