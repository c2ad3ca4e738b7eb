// The kernels where a training step spends its time besides the products of numeric/in_place.h, on vectors of 16 bytes.
#pragma once

#include "numeric/in_place.h"

namespace superpose {

// The gradient of softmax() with respect to its scores: weights (gradient - <weights, gradient>). `gradient`
// [count, n] is given with respect to the weights and overwritten.
template <typename Scalar>
void softmax_backward(Block<const Scalar> weights, Block<Scalar> gradient, Eigen::Index count,
                      Eigen::Index n);

// Rows [count, d], one after another, minus their mean and over their root mean square with epsilon 1e-5;
// inverse [count] is the factor of each row. Not model/row_norm.h's norm: the gradient needs the rows before the gain and
// their factors, so both are kept and the gain is a step of its own.
template <typename Scalar>
void layer_norm(const Scalar* x, Eigen::Index count, Eigen::Index d, Scalar* normalized, Scalar* inverse);

// Adds to dx the gradient of layer_norm() with respect to x, given the gradient with respect to its result.
template <typename Scalar>
void add_layer_norm_backward(const Scalar* gradient, const Scalar* normalized, const Scalar* inverse,
                             Eigen::Index count, Eigen::Index d, Scalar* dx);

// Mean cross-entropy over `total` targets, some of which are in these rows. Replaces the logits [count,
// classes] by their gradient, with zeros in rows without a target. Returns the sum of the rows' losses.
template <typename Scalar>
double cross_entropy(Scalar* logits, const int* targets, Eigen::Index count, Eigen::Index classes,
                     double total);

// y = x. The memcpy of a build linked for size goes byte by byte.
template <typename Scalar>
void copy_to(const Scalar* x, Eigen::Index count, Scalar* y);

// y += x.
template <typename Scalar>
void add_to(const Scalar* x, Eigen::Index count, Scalar* y);

// y *= x, entry by entry.
template <typename Scalar>
void multiply_to(const Scalar* x, Eigen::Index count, Scalar* y);

// y = a x.
template <typename Scalar>
void scale_to(const Scalar* x, Scalar a, Eigen::Index count, Scalar* y);

template <typename Scalar>
Scalar sum_of_products(const Scalar* x, const Scalar* y, Eigen::Index count);

// A step of AdamW on one part of the parameters. The gradient is multiplied by `clip`.
template <typename Scalar>
struct AdamStep {
  Scalar rate, decay, beta1, beta2, epsilon, correction1, correction2, clip;
};
template <typename Scalar>
void adam(const AdamStep<Scalar>& step, const Scalar* gradient, Eigen::Index count, Scalar* parameters,
          Scalar* first, Scalar* second);

}  // namespace superpose
