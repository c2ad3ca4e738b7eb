// Softmax over keys, of the whole score or of any of its terms.
#pragma once

#include <vector>

#include "numeric/matrix.h"
#include "scores/decomposition.h"

namespace superpose {

// Replaces each row of logits [n, n] by its softmax. The row's maximum is subtracted first, so large
// logits do not overflow. Anything that is constant along a row changes nothing.
template <typename Scalar>
void softmax_rows(Eigen::Ref<Matrix<Scalar>> logits);

// Softmax of sum_of_terms(); with no term included every weight is 1/n.
template <typename Scalar>
Matrix<Scalar> softmax_of_terms(const Scalar* terms, Eigen::Index n, const std::vector<bool>& included);

}  // namespace superpose
