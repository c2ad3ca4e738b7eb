#include "model/tensor_part.h"

#include <algorithm>

namespace superpose {

using Eigen::Index;

template <typename Scalar>
void place_part(const TensorPart& part, Matrix<Scalar> rows, Index first, PackedMatrix<Scalar>& map) {
  const Index outputs = map.rows(), start = part.place * outputs;
  if (part.transposed) {
    map.place_columns(rows.middleCols(start, outputs), first);
    return;
  }
  const Index from = std::max<Index>(0, start - first), to = std::min(rows.rows(), start + outputs - first);
  if (from < to) map.place_rows(rows.middleRows(from, to - from), first + from - start);
}

template void place_part(const TensorPart&, Matrix<float>, Eigen::Index, PackedMatrix<float>&);
template void place_part(const TensorPart&, Matrix<double>, Eigen::Index, PackedMatrix<double>&);

}  // namespace superpose
