#include "scores/concatenation.h"

#include "numeric/product.h"

namespace superpose {
namespace {

// For each head, the token's columns and then the position's: [n, heads * (a + b)].
template <typename Scalar>
Matrix<Scalar> join_heads(const Matrix<Scalar>& token, const Matrix<Scalar>& position, int heads) {
  const Eigen::Index a = token.cols() / heads;
  const Eigen::Index b = position.cols() / heads;
  Matrix<Scalar> joined(token.rows(), token.cols() + position.cols());
  for (int h = 0; h < heads; ++h) {
    joined.middleCols(h * (a + b), a) = token.middleCols(h * a, a);
    joined.middleCols(h * (a + b) + a, b) = position.middleCols(h * b, b);
  }
  return joined;
}

template <typename Scalar>
Matrix<Scalar> zeros_like(const Matrix<Scalar>& other) {
  return Matrix<Scalar>::Zero(other.rows(), other.cols());
}

// Matrices of the same shape, one above the other.
template <typename Scalar>
Matrix<Scalar> stacked(const std::vector<Matrix<Scalar>>& matrices) {
  const Eigen::Index n = matrices[0].rows();
  Matrix<Scalar> stack(static_cast<Eigen::Index>(matrices.size()) * n, matrices[0].cols());
  for (std::size_t m = 0; m < matrices.size(); ++m) stack.middleRows(m * n, n) = matrices[m];
  return stack;
}

}  // namespace

template <typename Scalar>
ProjectedParts<Scalar> concatenate_heads(const Matrix<Scalar>& token_query, const Matrix<Scalar>& token_key,
                                         const Matrix<Scalar>& position_query,
                                         const Matrix<Scalar>& position_key, int heads, Scalar scale) {
  const auto stack = [heads](const Matrix<Scalar>& token, const Matrix<Scalar>& position) {
    return stacked<Scalar>({join_heads(token, position, heads),
                            join_heads(token, zeros_like(position), heads),
                            join_heads(zeros_like(token), position, heads)});
  };
  ProjectedParts<Scalar> result;
  result.queries = stack(token_query, position_query);
  result.keys = stack(token_key, position_key);
  result.tokens = token_query.rows();
  result.parts = 2;
  result.heads = heads;
  result.scale = scale;
  return result;
}

template <typename Scalar>
ProjectedParts<Scalar> concatenate_raw(const Matrix<Scalar>& token, const Matrix<Scalar>& position,
                                       Scalar position_scale) {
  const Matrix<Scalar> scaled = position_scale * position;
  return concatenate_heads<Scalar>(token, token, scaled, scaled, 1, 1);
}

template <typename Scalar>
ProjectedParts<Scalar> concatenate_full(const Matrix<Scalar>& token, const Matrix<Scalar>& position,
                                        const Linear<Scalar>& query, const Linear<Scalar>& key, int heads,
                                        Scalar scale) {
  eigen_assert(query.weight.cols() == token.cols() + position.cols());
  const Matrix<Scalar> joined = join_columns(token, position);
  const bool constant = query.bias.size() || key.bias.size();
  const auto project = [&](const Linear<Scalar>& linear) {
    std::vector<Matrix<Scalar>> parts;
    parts.push_back(apply(linear, joined));
    parts.push_back(rows_times_rows<Scalar>(token, linear.weight.leftCols(token.cols())));
    parts.push_back(rows_times_rows<Scalar>(position, linear.weight.rightCols(position.cols())));
    if (constant) {
      Matrix<Scalar> bias = zeros_like(parts[0]);
      if (linear.bias.size()) bias.rowwise() += linear.bias.transpose();
      parts.push_back(std::move(bias));
    }
    return stacked(parts);
  };
  ProjectedParts<Scalar> result;
  result.queries = project(query);
  result.keys = project(key);
  result.tokens = token.rows();
  result.parts = constant ? 3 : 2;
  result.constant = constant;
  result.heads = heads;
  result.scale = scale;
  return result;
}

template <typename Scalar>
ProjectedParts<Scalar> concatenate_block_diagonal(const Matrix<Scalar>& token, const Matrix<Scalar>& position,
                                                  const Matrix<Scalar>& token_query,
                                                  const Matrix<Scalar>& token_key,
                                                  const Matrix<Scalar>& position_query,
                                                  const Matrix<Scalar>& position_key, int heads,
                                                  Scalar scale) {
  return concatenate_heads<Scalar>(rows_times_rows<Scalar>(token, token_query),
                                   rows_times_rows<Scalar>(token, token_key),
                                   rows_times_rows<Scalar>(position, position_query),
                                   rows_times_rows<Scalar>(position, position_key), heads, scale);
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                                    \
  template ProjectedParts<Scalar> concatenate_heads(const Matrix<Scalar>&, const Matrix<Scalar>&,        \
                                                    const Matrix<Scalar>&, const Matrix<Scalar>&, int,   \
                                                    Scalar);                                             \
  template ProjectedParts<Scalar> concatenate_raw(const Matrix<Scalar>&, const Matrix<Scalar>&, Scalar); \
  template ProjectedParts<Scalar> concatenate_full(const Matrix<Scalar>&, const Matrix<Scalar>&,         \
                                                   const Linear<Scalar>&, const Linear<Scalar>&, int,    \
                                                   Scalar);                                              \
  template ProjectedParts<Scalar> concatenate_block_diagonal(                                            \
      const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>&,        \
      const Matrix<Scalar>&, const Matrix<Scalar>&, int, Scalar);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
