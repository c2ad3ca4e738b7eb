#include "model/tensor_part.h"

#include <algorithm>

namespace superpose {

using Eigen::Index;

template <typename Scalar>
void place_part(const TensorPart& part, Matrix<Scalar> rows, Index first, PackedMatrix<Scalar>& map) {
  const Index outputs = map.rows();
  const auto scale = [&](Index output, Scalar* values, Index count, Index stride) {
    const double factor = part.factor(output, outputs);
    for (Index i = 0; factor != 1 && i < count; ++i)
      values[i * stride] = static_cast<Scalar>(values[i * stride] * factor);
  };
  if (part.transposed) {
    const Index start = part.place * outputs;
    for (Index o = 0; o < outputs; ++o) scale(o, rows.data() + start + o, rows.rows(), rows.cols());
    map.place_columns(rows.middleCols(start, outputs), first);
    return;
  }
  const Index of_head = outputs / part.heads;
  for (Index i = 0, here; i < rows.rows(); i += here) {
    const Index block = (first + i) / of_head, inside = (first + i) % of_head;
    here = std::min(of_head - inside, rows.rows() - i);
    if (block % part.of != part.place) continue;
    const Index output = block / part.of * of_head + inside;
    for (Index row = 0; row < here; ++row)
      scale(output + row, rows.data() + (i + row) * rows.cols(), rows.cols(), 1);
    map.place_rows(rows.middleRows(i, here), output);
  }
}

template void place_part(const TensorPart&, Matrix<float>, Eigen::Index, PackedMatrix<float>&);
template void place_part(const TensorPart&, Matrix<double>, Eigen::Index, PackedMatrix<double>&);

}  // namespace superpose
