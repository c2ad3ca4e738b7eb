#include "scores/decomposition.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/product.h"

namespace superpose {
namespace {

using Eigen::Index;

// Projects the stacked rows [(1 + summands) * n, d], the whole input and then each summand, and fills in the
// constant part below them.
void project(const Matrix<float>& stack, const ScoreLayer& layer, ProjectedParts& parts) {
  const PackedMatrix<float>& weight = layer.linear.weight;
  const Vector<float>& bias = layer.linear.bias;
  const Index n = parts.tokens, last = parts.parts * n;
  parts.rows.resize(n + last, weight.rows());
  if (n == 0) return;
  const auto multiply = [&](const Rows<float>& rows, Index at) {
    multiply_packed<float>(rows, weight, 0, weight.pieces(rows.rows()), parts.rows.row(at).data());
  };
  const auto add_bias = [&](Index row) {
    for (Index c = 0; c < bias.size(); ++c) parts.rows(row, c) += bias[c];
  };
  multiply(stack, 0);
  for (Index i = 0; i < n; ++i) add_bias(i);

  // W beta + b, the same in every row.
  const Vector<double>& beta = layer.normalization.beta;
  parts.rows.row(last).setZero();
  if (beta.size()) multiply(beta.cast<float>().transpose(), last);
  add_bias(last);
  for (Index i = 1; i < n; ++i) parts.rows.row(last + i) = parts.rows.row(last);
}

// W_Q above W_K.
PackedLinear<float> joined(const Linear<float>& query, const Linear<float>& key) {
  const Index width = query.weight.rows();
  PackedLinear<float> linear{PackedMatrix<float>(2 * width, query.weight.cols()), {}};
  linear.weight.place_rows(query.weight, 0);
  linear.weight.place_rows(key.weight, width);
  if (query.bias.size() + key.bias.size() == 0) return linear;
  linear.bias = Vector<float>::Zero(2 * width);
  linear.bias.head(query.bias.size()) = query.bias;
  linear.bias.segment(width, key.bias.size()) = key.bias;
  return linear;
}

}  // namespace

ScoreLayer::ScoreLayer(Normalization<double> normalization, const Linear<float>& query,
                       const Linear<float>& key, int heads, float scale)
    : normalization(std::move(normalization)), linear(joined(query, key)), heads(heads), scale(scale) {
  eigen_assert(query.weight.rows() == key.weight.rows() && query.weight.rows() % heads == 0);
}

ProjectedParts project_sum(const std::vector<Matrix<float>>& summands, const ScoreLayer& layer) {
  ProjectedParts parts;
  parts.tokens = summands[0].rows();
  parts.parts = static_cast<int>(summands.size()) + 1;
  parts.constant = true;
  parts.heads = layer.heads;
  parts.scale = layer.scale;
  // Norms and sums are computed in double, and rounded once.
  std::vector<Matrix<double>> exact;
  exact.reserve(summands.size());
  for (const Matrix<float>& summand : summands) exact.emplace_back(summand.cast<double>());
  NormalizedSummands input = normalize(exact, layer.normalization);
  parts.sigma = std::move(input.sigma);
  project(input.stack.cast<float>(), layer, parts);
  return parts;
}

ProjectedParts merge_parts(const ProjectedParts& parts, const std::vector<int>& group_of, int groups) {
  eigen_assert(static_cast<int>(group_of.size()) == parts.parts);
  const Index n = parts.tokens;
  ProjectedParts merged = parts;
  merged.parts = groups;
  // The last group is constant in the tokens when it contains the constant alone.
  merged.constant = parts.constant && group_of.back() == groups - 1 &&
                    std::count(group_of.begin(), group_of.end(), groups - 1) == 1;
  merged.rows.setZero((1 + groups) * n, parts.rows.cols());
  merged.rows.topRows(n) = parts.rows.topRows(n);
  for (int p = 0; p < parts.parts; ++p)
    merged.rows.middleRows((1 + group_of[p]) * n, n) += parts.rows.middleRows((1 + p) * n, n);
  return merged;
}

double head_terms(const ProjectedParts& parts, int head, float* terms, float* logits) {
  eigen_assert(head >= 0 && head < parts.heads);
  const Index n = parts.tokens, size = n * n;
  if (n == 0) return 0;
  const auto queries = parts.queries(head), keys = parts.keys(head);
  const auto term = [&](Index s, Index r) { return terms + (s * parts.parts + r) * size; };

  // One product for all parts that vary with the token.
  const Index varying = parts.parts - parts.constant;
  multiply_stacks<float>(queries.middleRows(n, varying * n), keys.middleRows(n, varying * n), parts.scale, n,
                         n, terms, parts.parts);
  if (parts.constant) {
    const Index last = n + varying * n;
    const auto one_row = [&](const Rows<float>& ones, const Rows<float>& all, Index part, float* out) {
      multiply_rows<float>(ones.middleRows(last, 1), all.middleRows(n + part * n, n), parts.scale,
                           MatrixMap<float>(out, 1, n));
    };
    for (Index s = 0; s < varying; ++s) {
      // Products with the one key go into the last row, and are then spread over the rows from the first on.
      float* const out = term(s, varying);
      const float* const products = out + size - n;
      one_row(keys, queries, s, out + size - n);
      for (Index i = 0; i < n; ++i) std::fill(out + i * n, out + (i + 1) * n, float(products[i]));
    }
    for (Index r = 0; r <= varying; ++r) {
      float* const out = term(varying, r);
      one_row(queries, keys, r, out);
      for (Index i = 1; i < n; ++i) std::copy(out, out + n, out + i * n);
    }
  }
  multiply_rows<float>(queries.topRows(n), keys.topRows(n), parts.scale, MatrixMap<float>(logits, n, n));
  return largest_gap(terms, parts.terms(), logits, size);
}

double largest_gap(const float* terms, int count, const float* logits, Index size) {
  // A piece at a time, so that sums stay in the cache.
  constexpr Index kPiece = 256;
  double largest = 0;
  for (Index start = 0; start < size; start += kPiece) {
    const Index piece = std::min(kPiece, size - start);
    double sums[kPiece] = {};
    for (int t = 0; t < count; ++t) {
      const float* const term = terms + t * size + start;
      for (Index j = 0; j < piece; ++j) sums[j] += term[j];
    }
    for (Index j = 0; j < piece; ++j) {
      const double gap = std::abs(sums[j] - logits[start + j]);
      if (gap > largest || gap != gap) largest = gap;
    }
  }
  return largest;
}

Matrix<double> sum_of_terms(const float* terms, Index n, const std::vector<bool>& included) {
  Matrix<double> sum = Matrix<double>::Zero(n, n);
  for (std::size_t t = 0; t < included.size(); ++t) {
    if (included[t]) sum += ConstMatrixMap<float>(terms + t * n * n, n, n).cast<double>();
  }
  return sum;
}

}  // namespace superpose
