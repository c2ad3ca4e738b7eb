#include "scores/layer_norm.h"

#include "scores/layer_norm_row.h"

namespace superpose {

template <typename Scalar>
void normalize_rows(const Normalization<Scalar>& normalization, Centring centring, Matrix<Scalar>& x,
                    Vector<Scalar>& sigma) {
  sigma = Vector<Scalar>::Ones(x.rows());
  if (normalization.kind == Norm::none) return;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    sigma[i] = normalize_row(normalization, centring, x.data() + i * x.cols(), x.cols());
}

template <typename Scalar>
void normalize_part(const Normalization<Scalar>& normalization, Centring centring,
                    const Vector<Scalar>& sigma, Matrix<Scalar>& part) {
  if (normalization.kind == Norm::none) return;
  for (Eigen::Index i = 0; i < part.rows(); ++i)
    normalize_part_row(normalization, centring, sigma[i], part.data() + i * part.cols(), part.cols());
}

template void normalize_rows(const Normalization<float>&, Centring, Matrix<float>&, Vector<float>&);
template void normalize_part(const Normalization<float>&, Centring, const Vector<float>&, Matrix<float>&);

}  // namespace superpose
