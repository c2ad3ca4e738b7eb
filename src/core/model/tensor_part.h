// The part of a tensor in a file that is the weight of one linear map: a file may keep several in one tensor.
// The tensor's rows arrive a few at a time.
#pragma once

#include <algorithm>

#include "numeric/product.h"

namespace superpose {

struct TensorPart {
  int place = 0, of = 1;    // the tensor has `of` maps of one shape, and this is number `place`, from 0
  bool transposed = false;  // [in, out], the maps side by side
};

// Copies into `map` its part of `rows`, which are the tensor's rows from row `first` on.
void place_part(const TensorPart& part, const Matrix<float>& rows, Eigen::Index first,
                PackedMatrix<float>& map) {
  using Eigen::Index;
  const Index outputs = map.rows(), start = part.place * outputs;
  if (part.transposed) {
    map.place_columns(rows.middleCols(start, outputs), first);
    return;
  }
  const Index from = std::max<Index>(0, start - first), to = std::min(rows.rows(), start + outputs - first);
  if (from < to) map.place_rows(rows.middleRows(from, to - from), first + from - start);
}

}  // namespace superpose
