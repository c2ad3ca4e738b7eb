// A map's weights within a tensor of a file, whose rows come bit by bit.
#pragma once

#include <vector>

#include "numeric/product.h"

namespace superpose {

struct TensorPart {
  Eigen::Index place = 0, of = 1;  // which of several maps of one shape
  Eigen::Index heads = 1;          // rows are a block for each head, each of them all maps' rows of that head
  bool transposed = false;         // [in, out], the maps side by side
  std::vector<double> factors;     // what multiplies as many outputs each, in order; or empty

  double factor(Eigen::Index output, Eigen::Index outputs) const {
    return factors.empty() ? 1 : factors[output * factors.size() / outputs];
  }
};

// Places in the map what the tensor's rows from row `first` on hold of it, multiplied by the factors.
template <typename Scalar>
void place_part(const TensorPart& part, Matrix<Scalar> rows, Eigen::Index first, PackedMatrix<Scalar>& map);

}  // namespace superpose
