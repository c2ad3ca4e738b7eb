#include "model/attention.h"

#include <algorithm>

#include "model/add_rows.h"
#include "numeric/in_place.h"
#include "numeric/product.h"

namespace superpose {

using Eigen::Index;

void normalize_heads(const Normalization<float>& norm, int heads, Index n, Matrix<float>& stack) {
  if (norm.kind == Norm::none) return;
  const Index size = n * stack.cols(), count = size ? stack.size() / size : 0;
  Vector<float> sigma;
  for (Index k = 0; k < count; ++k) {
    float* const at = stack.data() + k * size;
    // The channels of one head become a row of their own, so that each head is normalized by itself.
    Matrix<float> block(n * heads, stack.cols() / heads);
    std::copy_n(at, size, block.data());
    if (k == 0) {
      normalize_rows(norm, Centring::twice, block, sigma);
    } else {
      normalize_part(norm, Centring::twice, sigma, block);
      if (k == count - 1) add_rows({}, norm.beta, block);
    }
    std::copy_n(block.data(), size, at);
  }
}

Matrix<float> of_query_heads(const Matrix<float>& of_key_heads, int key_heads, int heads) {
  if (key_heads == heads) return of_key_heads;
  const Index width = of_key_heads.cols() / key_heads;
  Matrix<float> expanded(of_key_heads.rows(), heads * width);
  for (Index i = 0; i < expanded.rows(); ++i) {
    const float* const row = of_key_heads.data() + i * of_key_heads.cols();
    float* to = expanded.data() + i * expanded.cols();
    for (int h = 0; h < heads; ++h) to = std::copy_n(row + key_head(h, key_heads, heads) * width, width, to);
  }
  return expanded;
}

void head_logits(const Projections& rows, int head, int heads, int key_heads, Matrix<float>& logits) {
  const auto& [queries, keys] = rows;
  const Index n = queries.rows(), width = queries.cols() / heads;
  Matrix<float> transposed(width, n);
  transpose<float>({keys.data() + key_head(head, key_heads, heads) * width, keys.cols()}, n, width,
                   {transposed.data(), n});
  logits.resize(n, n);
  multiply<float>({queries.data() + head * width, queries.cols()}, {transposed.data(), n}, {n, width, n},
                  {logits.data(), n});
}

void softmax_over_keys(bool causal, Matrix<float>& logits) {
  const Index n = logits.rows();
  for (Index i = 0; i < n && causal; ++i) {
    for (Index j = i + 1; j < n; ++j) logits(i, j) = float(kMasked);
  }
  softmax<float>({logits.data(), n}, n, n);
}

}  // namespace superpose
