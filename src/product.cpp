#include "product.h"

namespace superpose {

template <typename Scalar>
void multiply_rows(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, MatrixMap<Scalar> out) {
  eigen_assert(a.cols() == b.cols() && out.rows() == a.rows() && out.cols() == b.rows());
  out.noalias() = scale * a * b.transpose();
}

template void multiply_rows(const Rows<float>&, const Rows<float>&, float, MatrixMap<float>);
template void multiply_rows(const Rows<double>&, const Rows<double>&, double, MatrixMap<double>);

}  // namespace superpose
