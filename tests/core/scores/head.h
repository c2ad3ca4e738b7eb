// A head's terms and logits, in the form that tests read.
#pragma once

#include "numeric/centred.h"
#include "scores/decomposition.h"
#include "scores/shares.h"

namespace superpose {

struct Head {
  Matrix<double> terms;  // [parts^2, n * n]
  Matrix<double> logits;
  double residual;

  Matrix<double> term(int t) const {
    return ConstMatrixMap<double>(terms.row(t).data(), logits.rows(), logits.cols());
  }
  Vector<double> shares(const CountedPairs& counted) const {
    return row_centred_covariances(terms.data(), terms.rows(), logits.data(), logits.rows(), counted).shares;
  }
};

inline Head head_of(const ProjectedParts<double>& parts, int head = 0) {
  const Eigen::Index n = parts.tokens;
  Head result{Matrix<double>(parts.terms(), n * n), Matrix<double>(n, n), 0};
  result.residual = head_terms(parts, head, result.terms.data(), result.logits.data());
  return result;
}

}  // namespace superpose
