// Where a key is relative to a query: the row of a table that each pair (i, j) looks up, and the slopes of
// ALiBi. Queries are rows i and keys are columns j throughout.
#pragma once

#include <vector>

#include "numeric/matrix.h"

namespace superpose {

using Indices = Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// clip(j - i, -k, k) + k, [n, n], from 0 to 2k (Shaw et al., arXiv 1803.02155, equation 3 and
// tensor2tensor's _generate_relative_positions_embeddings). k >= 0.
Indices clipped_offsets(int n, int k);

// delta(i, j) = clamp(i - j + k, 0, 2k - 1), [n, n] (He et al., arXiv 2006.03654, equation 3). The
// range is not symmetric: k keys behind (i - j = -k) is row 0, k - 1 ahead is the last row. k >= 1.
Indices deberta_distances(int n, int k);

struct T5Options {
  bool bidirectional = true;
  int buckets = 32;        // even, >= 4, when bidirectional; >= 2 otherwise
  int max_distance = 128;  // above the exact buckets: buckets / 4, or buckets / 2 when one-directional
};

// The bucket, from 0 to buckets - 1, of a key j - i positions after its query, [n, n]. Half of a direction's
// buckets are for one distance each. The other half are for distances that grow geometrically up to
// max_distance, and the last bucket is for everything beyond. If bidirectional, keys after the query have
// the upper half of all buckets; otherwise they share bucket 0 (tensorflow/mesh,
// mesh_tensorflow/transformer/transformer_layers.py, _relative_position_bucket).
Indices t5_buckets(int n, const T5Options& options);

// Like t5_buckets(), but with separate buckets for the first token, [CLS]. The bucket from [CLS] to any token
// is buckets/2, which a bidirectional T5 never uses (offset 0 is in bucket 0). The bucket from any other
// token to [CLS] is `buckets`, one row more than T5 has (guolinke/TUPE,
// fairseq/modules/transformer_sentence_encoder.py). options.bidirectional must be true.
Indices tupe_buckets(int n, const T5Options& options);

// The slopes m_h, [heads], for h = 1 .. H. They are 2^(-8h/H) if H is a power of two. Otherwise they are the
// slopes for P heads, where P is the largest power of two below H, followed by the first, third, fifth ...
// slope for 2P heads (Press et al., arXiv 2108.12409, section 3; ofirpress/attention_with_linear_biases,
// get_slopes).
std::vector<double> alibi_slopes(int heads);

}  // namespace superpose
