#include "scores/order.h"

#include <cmath>

#include "numeric/product.h"
#include "scores/softmax.h"

namespace superpose {
namespace {

Matrix<double> permute(const Matrix<double>& rows, const std::vector<int>& permutation) {
  Matrix<double> out(rows.rows(), rows.cols());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) out.row(i) = rows.row(permutation[i]);
  return out;
}

double largest(const Matrix<double>& difference) {
  return difference.size() ? difference.cwiseAbs().maxCoeff() : 0;
}

}  // namespace

Matrix<double> attention_layer(const Matrix<double>& input, const AttentionLayer& layer, bool causal) {
  const Eigen::Index n = input.rows();
  if (n == 0) return input;
  const Matrix<double> queries = apply(layer.query, input);
  const Matrix<double> keys = apply(layer.key, input);
  const Matrix<double> values = apply(layer.value, input);
  const Eigen::Index width = queries.cols() / layer.heads;
  const Eigen::Index value_width = values.cols() / layer.heads;

  Matrix<double> mixed(n, values.cols());
  Matrix<double> weights(n, n);
  for (int head = 0; head < layer.heads; ++head) {
    multiply_rows<double>(queries.middleCols(head * width, width), keys.middleCols(head * width, width),
                          1 / std::sqrt(double(width)), MatrixMap<double>(weights.data(), n, n));
    softmax_rows(weights, causal);
    const Matrix<double> of_head = values.middleCols(head * value_width, value_width).transpose();
    mixed.middleCols(head * value_width, value_width) = rows_times_rows<double>(weights, of_head);
  }
  return input + apply(layer.output, mixed);
}

PermutationEffect permutation_effect(const Matrix<double>& input, const std::vector<AttentionLayer>& layers,
                                     bool causal, const std::vector<int>& permutation) {
  PermutationEffect effect{input, permute(input, permutation)};
  for (const AttentionLayer& layer : layers) {
    effect.output = attention_layer(effect.output, layer, causal);
    effect.permuted = attention_layer(effect.permuted, layer, causal);
  }
  effect.equivariance = largest(effect.permuted - permute(effect.output, permutation));
  const Eigen::Index last = std::min<Eigen::Index>(1, input.rows());
  effect.last = largest(effect.permuted.bottomRows(last) - effect.output.bottomRows(last));
  return effect;
}

}  // namespace superpose
