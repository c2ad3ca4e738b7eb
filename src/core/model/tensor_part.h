// A map's weights within a tensor of a file, whose rows come bit by bit.
#pragma once

#include <vector>

#include "numeric/product.h"

namespace superpose {

struct TensorPart {
  Eigen::Index place = 0, of = 1;  // which of several maps of one shape
  bool transposed = false;         // [in, out], the maps side by side
};

// Places in the map what the tensor's rows from row `first` on hold of it.
template <typename Scalar>
void place_part(const TensorPart& part, Matrix<Scalar> rows, Eigen::Index first, PackedMatrix<Scalar>& map);

}  // namespace superpose
