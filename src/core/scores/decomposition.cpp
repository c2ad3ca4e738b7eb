#include "scores/decomposition.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/product.h"

namespace superpose {
namespace {

using Eigen::Index;

using Blocks = std::vector<const Matrix<float>*>;

// What is projected, from row `from` on of the whole and the parts.
Matrix<float> project(const Blocks& blocks, Index from, Index tokens, int parts, const Vector<double>& beta,
                      const PackedLinear<float>& linear) {
  const Index width = linear.weight.rows(), last = parts * tokens;
  Matrix<float> result(last + tokens, width);
  const auto multiply = [&](const Rows<float>& rows, Index at) {
    multiply_packed<float>(rows, linear.weight, 0, linear.weight.pieces(rows.rows()), result.row(at).data());
  };
  if (tokens == 0) return result;

  Index at = from;
  for (const Matrix<float>* const block : blocks) {
    multiply(*block, at);
    at += block->rows();
  }
  const auto add_bias = [&](Index row) {
    for (Index c = 0; c < linear.bias.size(); ++c) result(row, c) += linear.bias[c];
  };
  for (Index i = from; i < tokens; ++i) add_bias(i);

  // W beta + b, the same in every row.
  result.row(last).setZero();
  if (beta.size()) multiply(beta.cast<float>().transpose(), last);
  add_bias(last);
  for (Index i = 1; i < tokens; ++i) result.row(last + i) = result.row(last);
  return result;
}

}  // namespace

ScoreLayer::ScoreLayer(Normalization<double> normalization, const Linear<float>& query,
                       const Linear<float>& key, int heads, float scale)
    : normalization(std::move(normalization)),
      query{PackedMatrix<float>(query.weight), query.bias},
      key{PackedMatrix<float>(key.weight), key.bias},
      heads(heads),
      scale(scale) {
  eigen_assert(query.weight.rows() == key.weight.rows() && query.weight.rows() % heads == 0);
}

ProjectedParts project_sum(const std::vector<Matrix<float>>& summands, const ScoreLayer& layer, bool whole) {
  const Index n = summands[0].rows();
  ProjectedParts parts;
  parts.tokens = n;
  parts.parts = static_cast<int>(summands.size()) + 1;
  parts.constant = true;
  parts.heads = layer.heads;
  parts.scale = layer.scale;
  // Tables that nothing normalizes are read where they lie. All else is found in double and rounded once.
  Matrix<float> made;
  Blocks blocks;
  if (layer.normalization.kind != Norm::none || whole) {
    std::vector<Matrix<double>> exact;
    for (const Matrix<float>& one : summands) exact.push_back(one.cast<double>());
    NormalizedSummands input = normalize(exact, layer.normalization);
    made = (whole ? input.stack : input.stack.bottomRows(input.stack.rows() - n)).cast<float>();
    parts.sigma = input.sigma;
    blocks = {&made};
  } else {
    for (const Matrix<float>& one : summands) blocks.push_back(&one);
    parts.sigma = Vector<double>::Ones(n);
  }
  const auto through = [&](const PackedLinear<float>& linear) {
    return project(blocks, whole ? 0 : n, n, parts.parts, layer.normalization.beta, linear);
  };
  parts.queries = through(layer.query);
  parts.keys = through(layer.key);
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
  const auto add_up = [&](const Matrix<float>& of, Matrix<float>& sums) {
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

void head_terms(const ProjectedParts& parts, int head, float* terms) {
  eigen_assert(head >= 0 && head < parts.heads);
  const Index n = parts.tokens, size = n * n, width = parts.head_width();
  if (n == 0) return;
  const auto rows = [&](const Matrix<float>& all, Index from, Index count) {
    return all.block(from, head * width, count, width);
  };
  const auto term = [&](Index s, Index r) { return terms + (s * parts.parts + r) * size; };

  // One product for all parts that vary with the token.
  const Index varying = parts.parts - parts.constant;
  multiply_stacks<float>(rows(parts.queries, n, varying * n), rows(parts.keys, n, varying * n), parts.scale,
                         n, n, terms, parts.parts);
  if (parts.constant) {
    const Index last = n + varying * n;
    const auto one_row = [&](const Matrix<float>& ones, const Matrix<float>& all, Index part, float* out) {
      multiply_rows<float>(rows(ones, last, 1), rows(all, n + part * n, n), parts.scale,
                           MatrixMap<float>(out, 1, n));
    };
    for (Index s = 0; s < varying; ++s) {
      // Products with the one key go into the last row, and are then spread over the rows from the first on.
      float* const out = term(s, varying);
      const float* const products = out + size - n;
      one_row(parts.keys, parts.queries, s, out + size - n);
      for (Index i = 0; i < n; ++i) std::fill(out + i * n, out + (i + 1) * n, float(products[i]));
    }
    for (Index r = 0; r <= varying; ++r) {
      float* const out = term(varying, r);
      one_row(parts.queries, parts.keys, r, out);
      for (Index i = 1; i < n; ++i) std::copy(out, out + n, out + i * n);
    }
  }
}

double head_terms(const ProjectedParts& parts, int head, float* terms, float* logits) {
  head_terms(parts, head, terms);
  const Index n = parts.tokens, width = parts.head_width();
  const auto whole = [&](const Matrix<float>& all) { return all.block(0, head * width, n, width); };
  multiply_rows<float>(whole(parts.queries), whole(parts.keys), parts.scale, MatrixMap<float>(logits, n, n));
  return largest_gap(terms, parts.terms(), logits, n * n);
}

double largest_gap(const float* terms, int count, const float* whole, Index size) {
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
      const double gap = std::abs(sums[j] - whole[start + j]);
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
