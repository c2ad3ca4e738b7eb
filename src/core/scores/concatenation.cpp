#include "scores/concatenation.h"

#include "numeric/product.h"

namespace superpose {
namespace {

// For each head, the token's columns and then the position's: [n, heads * (a + b)].
Matrix<double> join_heads(const Matrix<double>& token, const Matrix<double>& position, int heads) {
  const Eigen::Index a = token.cols() / heads;
  const Eigen::Index b = position.cols() / heads;
  Matrix<double> joined(token.rows(), token.cols() + position.cols());
  for (int h = 0; h < heads; ++h) {
    joined.middleCols(h * (a + b), a) = token.middleCols(h * a, a);
    joined.middleCols(h * (a + b) + a, b) = position.middleCols(h * b, b);
  }
  return joined;
}

Matrix<double> zeros_like(const Matrix<double>& other) {
  return Matrix<double>::Zero(other.rows(), other.cols());
}

// Matrices of the same shape, one above the other.
Matrix<double> stacked(const std::vector<Matrix<double>>& matrices) {
  const Eigen::Index n = matrices[0].rows();
  Matrix<double> stack(static_cast<Eigen::Index>(matrices.size()) * n, matrices[0].cols());
  for (std::size_t m = 0; m < matrices.size(); ++m) stack.middleRows(m * n, n) = matrices[m];
  return stack;
}

}  // namespace

ProjectedParts concatenate_heads(const Matrix<double>& token_query, const Matrix<double>& token_key,
                                 const Matrix<double>& position_query, const Matrix<double>& position_key,
                                 int heads, double scale) {
  const auto stack = [heads](const Matrix<double>& token, const Matrix<double>& position) {
    return stacked({join_heads(token, position, heads), join_heads(token, zeros_like(position), heads),
                    join_heads(zeros_like(token), position, heads)});
  };
  ProjectedParts result;
  result.queries = stack(token_query, position_query);
  result.keys = stack(token_key, position_key);
  result.tokens = token_query.rows();
  result.parts = 2;
  result.heads = heads;
  result.scale = scale;
  return result;
}

ProjectedParts concatenate_full(const Matrix<double>& token, const Matrix<double>& position,
                                const Linear<double>& query, const Linear<double>& key, int heads,
                                double scale) {
  eigen_assert(query.weight.cols() == token.cols() + position.cols());
  const Matrix<double> joined = join_columns(token, position);
  const bool constant = query.bias.size() || key.bias.size();
  const auto project = [&](const Linear<double>& linear) {
    std::vector<Matrix<double>> parts;
    parts.push_back(apply(linear, joined));
    parts.push_back(rows_times_rows<double>(token, linear.weight.leftCols(token.cols())));
    parts.push_back(rows_times_rows<double>(position, linear.weight.rightCols(position.cols())));
    if (constant) {
      Matrix<double> bias = zeros_like(parts[0]);
      if (linear.bias.size()) bias.rowwise() += linear.bias.transpose();
      parts.push_back(std::move(bias));
    }
    return stacked(parts);
  };
  ProjectedParts result;
  result.queries = project(query);
  result.keys = project(key);
  result.tokens = token.rows();
  result.parts = constant ? 3 : 2;
  result.constant = constant;
  result.heads = heads;
  result.scale = scale;
  return result;
}

}  // namespace superpose
