// LayerNorm without a gain: rows minus their mean, over their root mean square with epsilon 1e-5. Not model/row_norm.h's:
// the gradient needs rows and factors.
#pragma once

#include "training/product.h"

namespace superpose {

struct Normed {
  Matrix<float> rows;
  Vector<float> inverse;  // 1 / sigma of each row
};

inline Matrix<float> row_less_mean(const Matrix<float>& x) { return x.colwise() - row_means(x); }

inline Normed layer_norm(const Matrix<float>& x) {
  const Matrix<float> centred = row_less_mean(x);
  const Vector<float> variance = row_dots(centred, centred) / static_cast<float>(x.cols());
  const Vector<float> inverse = (variance.array() + 1e-5f).rsqrt();
  return {inverse.asDiagonal() * centred, inverse};
}

// The gradient with respect to x, given that with respect to the rows.
inline Matrix<float> layer_norm_backward(const Normed& of, const Matrix<float>& gradient) {
  const Vector<float> along = row_dots(gradient, of.rows) / static_cast<float>(gradient.cols());
  return of.inverse.asDiagonal() * (row_less_mean(gradient) - along.asDiagonal() * of.rows);
}

}  // namespace superpose
