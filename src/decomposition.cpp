#include "decomposition.h"

#include "product.h"

namespace superpose {
namespace {

template <typename Scalar>
struct Projection {
  std::vector<Matrix<Scalar>> parts;
  Matrix<Scalar> whole;
};

template <typename Scalar>
Projection<Scalar> project(const NormalizedSummands<Scalar>& input, const Vector<Scalar>& beta,
                           const Linear<Scalar>& linear) {
  Projection<Scalar> result;
  for (const Matrix<Scalar>& part : input.parts) {
    result.parts.push_back(rows_times_rows<Scalar>(part, linear.weight));
  }

  Matrix<Scalar> constant = Matrix<Scalar>::Zero(1, linear.weight.rows());
  if (beta.size()) constant = rows_times_rows<Scalar>(beta.transpose(), linear.weight);
  if (linear.bias.size()) constant += linear.bias.transpose();
  result.parts.emplace_back(constant.replicate(input.whole.rows(), 1));

  result.whole = rows_times_rows<Scalar>(input.whole, linear.weight);
  if (linear.bias.size()) result.whole.rowwise() += linear.bias.transpose();
  return result;
}

}  // namespace

template <typename Scalar>
ProjectedParts<Scalar> project_sum(const std::vector<Matrix<Scalar>>& summands,
                                   const Normalization<Scalar>& normalization,
                                   const Linear<Scalar>& query, const Linear<Scalar>& key, int heads,
                                   Scalar scale) {
  eigen_assert(query.weight.rows() == key.weight.rows() && query.weight.rows() % heads == 0);
  const NormalizedSummands<Scalar> input = normalize(summands, normalization);
  Projection<Scalar> queries = project(input, normalization.beta, query);
  Projection<Scalar> keys = project(input, normalization.beta, key);
  return {std::move(queries.parts), std::move(keys.parts), std::move(queries.whole),
          std::move(keys.whole),    heads,                 scale};
}

template <typename Scalar>
ProjectedParts<Scalar> merge_parts(const ProjectedParts<Scalar>& parts,
                                   const std::vector<int>& group_of, int groups) {
  eigen_assert(group_of.size() == parts.queries.size());
  const auto merged = [&](const std::vector<Matrix<Scalar>>& of) {
    std::vector<Matrix<Scalar>> sums(
        groups, Matrix<Scalar>::Zero(parts.query.rows(), parts.query.cols()));
    for (std::size_t p = 0; p < of.size(); ++p) sums[group_of[p]] += of[p];
    return sums;
  };
  return {merged(parts.queries), merged(parts.keys), parts.query, parts.key, parts.heads,
          parts.scale};
}

template <typename Scalar>
Scalar head_terms(const ProjectedParts<Scalar>& parts, int head, Scalar* terms, Scalar* logits) {
  eigen_assert(head >= 0 && head < parts.heads);
  const Eigen::Index n = parts.tokens();
  const Eigen::Index width = parts.head_width();
  const auto of_head = [&](const Matrix<Scalar>& all) { return all.middleCols(head * width, width); };

  MatrixMap<Scalar> whole(logits, n, n);
  multiply_rows<Scalar>(of_head(parts.query), of_head(parts.key), parts.scale, whole);

  Matrix<Scalar> sum = Matrix<Scalar>::Zero(n, n);
  Scalar* next = terms;
  for (const Matrix<Scalar>& query : parts.queries) {
    for (const Matrix<Scalar>& key : parts.keys) {
      MatrixMap<Scalar> term(next, n, n);
      multiply_rows<Scalar>(of_head(query), of_head(key), parts.scale, term);
      sum += term;
      next += n * n;
    }
  }
  return n ? (sum - whole).cwiseAbs().maxCoeff() : Scalar(0);
}

template <typename Scalar>
Matrix<Scalar> sum_of_terms(const Scalar* terms, Eigen::Index n, const std::vector<bool>& included) {
  Matrix<Scalar> sum = Matrix<Scalar>::Zero(n, n);
  for (std::size_t t = 0; t < included.size(); ++t) {
    if (included[t]) sum += ConstMatrixMap<Scalar>(terms + t * n * n, n, n);
  }
  return sum;
}

template ProjectedParts<float> project_sum(const std::vector<Matrix<float>>&,
                                           const Normalization<float>&, const Linear<float>&,
                                           const Linear<float>&, int, float);
template ProjectedParts<double> project_sum(const std::vector<Matrix<double>>&,
                                            const Normalization<double>&, const Linear<double>&,
                                            const Linear<double>&, int, double);
template ProjectedParts<float> merge_parts(const ProjectedParts<float>&, const std::vector<int>&,
                                           int);
template ProjectedParts<double> merge_parts(const ProjectedParts<double>&, const std::vector<int>&,
                                            int);
template float head_terms(const ProjectedParts<float>&, int, float*, float*);
template double head_terms(const ProjectedParts<double>&, int, double*, double*);

template Matrix<float> sum_of_terms(const float*, Eigen::Index, const std::vector<bool>&);
template Matrix<double> sum_of_terms(const double*, Eigen::Index, const std::vector<bool>&);

}  // namespace superpose
