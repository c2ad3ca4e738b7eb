#include "concatenation.h"

#include "product.h"

namespace superpose {
namespace {

// Per head, the token's columns and then the position's: [n, heads * (a + b)].
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

}  // namespace

template <typename Scalar>
ProjectedParts<Scalar> concatenate_heads(const Matrix<Scalar>& token_query,
                                         const Matrix<Scalar>& token_key,
                                         const Matrix<Scalar>& position_query,
                                         const Matrix<Scalar>& position_key, int heads, Scalar scale) {
  ProjectedParts<Scalar> result;
  result.queries = {join_heads(token_query, zeros_like(position_query), heads),
                    join_heads(zeros_like(token_query), position_query, heads)};
  result.keys = {join_heads(token_key, zeros_like(position_key), heads),
                 join_heads(zeros_like(token_key), position_key, heads)};
  result.query = join_heads(token_query, position_query, heads);
  result.key = join_heads(token_key, position_key, heads);
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
                                        const Linear<Scalar>& query, const Linear<Scalar>& key,
                                        int heads, Scalar scale) {
  eigen_assert(query.weight.cols() == token.cols() + position.cols());
  const Matrix<Scalar> joined = join_columns(token, position);
  const auto parts_of = [&](const Linear<Scalar>& linear) {
    std::vector<Matrix<Scalar>> parts;
    parts.push_back(rows_times_rows<Scalar>(token, linear.weight.leftCols(token.cols())));
    parts.push_back(rows_times_rows<Scalar>(position, linear.weight.rightCols(position.cols())));
    if (query.bias.size() || key.bias.size()) {
      Matrix<Scalar> constant = zeros_like(parts[0]);
      if (linear.bias.size()) constant.rowwise() += linear.bias.transpose();
      parts.push_back(std::move(constant));
    }
    return parts;
  };
  const auto whole_of = [&](const Linear<Scalar>& linear) {
    Matrix<Scalar> whole = rows_times_rows<Scalar>(joined, linear.weight);
    if (linear.bias.size()) whole.rowwise() += linear.bias.transpose();
    return whole;
  };
  return {parts_of(query), parts_of(key), whole_of(query), whole_of(key), heads, scale};
}

template <typename Scalar>
ProjectedParts<Scalar> concatenate_block_diagonal(
    const Matrix<Scalar>& token, const Matrix<Scalar>& position, const Matrix<Scalar>& token_query,
    const Matrix<Scalar>& token_key, const Matrix<Scalar>& position_query,
    const Matrix<Scalar>& position_key, int heads, Scalar scale) {
  return concatenate_heads<Scalar>(rows_times_rows<Scalar>(token, token_query),
                                   rows_times_rows<Scalar>(token, token_key),
                                   rows_times_rows<Scalar>(position, position_query),
                                   rows_times_rows<Scalar>(position, position_key), heads, scale);
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                             \
  template ProjectedParts<Scalar> concatenate_heads(const Matrix<Scalar>&, const Matrix<Scalar>&, \
                                                    const Matrix<Scalar>&, const Matrix<Scalar>&, \
                                                    int, Scalar);                                 \
  template ProjectedParts<Scalar> concatenate_raw(const Matrix<Scalar>&, const Matrix<Scalar>&,   \
                                                  Scalar);                                        \
  template ProjectedParts<Scalar> concatenate_full(const Matrix<Scalar>&, const Matrix<Scalar>&,  \
                                                   const Linear<Scalar>&, const Linear<Scalar>&,  \
                                                   int, Scalar);                                  \
  template ProjectedParts<Scalar> concatenate_block_diagonal(                                     \
      const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>&, \
      const Matrix<Scalar>&, const Matrix<Scalar>&, int, Scalar);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
