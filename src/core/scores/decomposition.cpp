#include "scores/decomposition.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/product.h"

namespace superpose {
namespace {

using Eigen::Index;

// The whole and each part through one Linear, and W beta + b as the last part.
Matrix<double> project(const NormalizedSummands& input, const Vector<double>& beta,
                       const PackedLinear<double>& linear, bool whole) {
  const Index n = input.tokens, projected = input.stack.rows(), width = linear.weight.rows();
  const Index left_out = whole ? 0 : n;
  Matrix<double> result(projected + n, width);
  const auto multiply = [&](const Rows<double>& rows, double* out) {
    multiply_packed<double>(rows, linear.weight, 0, linear.weight.pieces(rows.rows()), out);
  };
  multiply(input.stack.bottomRows(projected - left_out), result.data() + left_out * width);
  const auto add_bias = [&](Index row) {
    for (Index c = 0; c < linear.bias.size(); ++c) result(row, c) += linear.bias[c];
  };
  for (Index i = left_out; i < n; ++i) add_bias(i);
  if (n == 0) return result;

  MatrixMap<double> first(&result(projected, 0), 1, width);
  first.setZero();
  if (beta.size()) multiply(beta.transpose(), first.data());
  add_bias(projected);
  for (Index i = 1; i < n; ++i) result.row(projected + i) = first;
  return result;
}

}  // namespace

ScoreLayer::ScoreLayer(Normalization<double> normalization, const Linear<double>& query,
                       const Linear<double>& key, int heads, double scale)
    : normalization(std::move(normalization)),
      query{PackedMatrix<double>(query.weight), query.bias},
      key{PackedMatrix<double>(key.weight), key.bias},
      heads(heads),
      scale(scale) {
  eigen_assert(query.weight.rows() == key.weight.rows() && query.weight.rows() % heads == 0);
}

ProjectedParts project_sum(const std::vector<Matrix<double>>& summands, const ScoreLayer& layer, bool whole) {
  const NormalizedSummands input = normalize(summands, layer.normalization);
  ProjectedParts parts;
  parts.queries = project(input, layer.normalization.beta, layer.query, whole);
  parts.keys = project(input, layer.normalization.beta, layer.key, whole);
  parts.tokens = input.tokens;
  parts.parts = static_cast<int>(summands.size()) + 1;
  parts.constant = true;
  parts.heads = layer.heads;
  parts.scale = layer.scale;
  parts.sigma = input.sigma;
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
  const auto add_up = [&](const Matrix<double>& of, Matrix<double>& sums) {
    sums.setZero((1 + groups) * n, of.cols());
    sums.topRows(n) = of.topRows(n);
    for (int p = 0; p < parts.parts; ++p) {
      sums.middleRows((1 + group_of[p]) * n, n) += of.middleRows((1 + p) * n, n);
    }
  };
  add_up(parts.queries, merged.queries);
  add_up(parts.keys, merged.keys);
  return merged;
}

void head_terms(const ProjectedParts& parts, int head, double* terms) {
  eigen_assert(head >= 0 && head < parts.heads);
  const Index n = parts.tokens, size = n * n, width = parts.head_width();
  if (n == 0) return;
  const auto rows = [&](const Matrix<double>& all, Index from, Index count) {
    return all.block(from, head * width, count, width);
  };
  const auto term = [&](Index s, Index r) { return terms + (s * parts.parts + r) * size; };

  // One product for all parts that vary with the token.
  const Index varying = parts.parts - parts.constant;
  multiply_stacks<double>(rows(parts.queries, n, varying * n), rows(parts.keys, n, varying * n), parts.scale,
                          n, n, terms, parts.parts);
  if (parts.constant) {
    const Index last = n + varying * n;
    const auto one_row = [&](const Matrix<double>& ones, const Matrix<double>& all, Index part, double* out) {
      multiply_rows<double>(rows(ones, last, 1), rows(all, n + part * n, n), parts.scale,
                            MatrixMap<double>(out, 1, n));
    };
    for (Index s = 0; s < varying; ++s) {
      // Products with the one key go into the last row, and are then spread over the rows from the first on.
      double* const out = term(s, varying);
      const double* const products = out + size - n;
      one_row(parts.keys, parts.queries, s, out + size - n);
      for (Index i = 0; i < n; ++i) std::fill(out + i * n, out + (i + 1) * n, double(products[i]));
    }
    for (Index r = 0; r <= varying; ++r) {
      double* const out = term(varying, r);
      one_row(parts.queries, parts.keys, r, out);
      for (Index i = 1; i < n; ++i) std::copy(out, out + n, out + i * n);
    }
  }
}

double head_terms(const ProjectedParts& parts, int head, double* terms, double* logits) {
  head_terms(parts, head, terms);
  const Index n = parts.tokens, width = parts.head_width();
  const auto whole = [&](const Matrix<double>& all) { return all.block(0, head * width, n, width); };
  multiply_rows<double>(whole(parts.queries), whole(parts.keys), parts.scale,
                        MatrixMap<double>(logits, n, n));
  return largest_gap(terms, parts.terms(), logits, n * n);
}

double largest_gap(const double* terms, int count, const double* whole, Index size) {
  // A piece at a time, so that sums stay in the cache.
  constexpr Index kPiece = 256;
  double largest = 0;
  for (Index start = 0; start < size; start += kPiece) {
    const Index piece = std::min(kPiece, size - start);
    double sums[kPiece] = {};
    for (int t = 0; t < count; ++t) {
      const double* const term = terms + t * size + start;
      for (Index j = 0; j < piece; ++j) sums[j] += term[j];
    }
    for (Index j = 0; j < piece; ++j) {
      const double gap = std::abs(sums[j] - whole[start + j]);
      if (gap > largest || gap != gap) largest = gap;
    }
  }
  return largest;
}

void make_room_for_a_part(double* terms, int parts, Index n) {
  const int all = parts + 1;
  const Index size = n * n;
  // From the last on, since none moves backwards.
  for (int term = all * all - 1; term >= 0; --term) {
    const int query = term / all, key = term % all;
    double* const to = terms + term * size;
    if (query < parts && key < parts) {
      const double* const from = terms + (query * parts + key) * size;
      std::copy_backward(from, from + size, to + size);
    } else {
      std::fill_n(to, size, 0.0);
    }
  }
}

Matrix<double> sum_of_terms(const double* terms, Index n, const std::vector<bool>& included) {
  Matrix<double> sum = Matrix<double>::Zero(n, n);
  for (std::size_t t = 0; t < included.size(); ++t) {
    if (included[t]) sum += ConstMatrixMap<double>(terms + t * n * n, n, n);
  }
  return sum;
}

}  // namespace superpose
