// One map's weight is taken out of a tensor of several maps.
#include "model/tensor_part.h"

#include <gtest/gtest.h>

#include "random_shapes.h"

namespace superpose {
namespace {

// A tensor is written entry by entry from its maps. Each map is then taken out of it again, from rows that
// arrive in pieces of any length.
TEST(TensorPart, IsTakenOutOfATensorOfSeveralMaps) {
  Shapes shapes(23);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const bool transposed = shapes.coin();
    const int of = shapes.between(1, 3), outputs = shapes.between(1, 40), inputs = shapes.between(1, 20);
    std::vector<Matrix<float>> maps;
    Matrix<float> tensor(transposed ? inputs : of * outputs, transposed ? of * outputs : inputs);
    for (int place = 0; place < of; ++place) {
      maps.push_back(shapes.integers(outputs, inputs).cast<float>());
      for (int row = 0; row < outputs; ++row) {
        for (int c = 0; c < inputs; ++c) {
          const int at = place * outputs + row;
          (transposed ? tensor(c, at) : tensor(at, c)) = maps[place](row, c);
        }
      }
    }
    for (int place = 0; place < of; ++place) {
      PackedMatrix<float> packed(outputs, inputs);
      for (int at = 0; at < tensor.rows();) {
        const int count = std::min(static_cast<int>(tensor.rows()) - at, shapes.between(1, 15));
        place_part({place, of, transposed}, tensor.middleRows(at, count), at, packed);
        at += count;
      }
      const Matrix<float> channels = Matrix<float>::Identity(inputs, inputs);
      EXPECT_EQ(rows_times_rows<float>(channels, packed), maps[place].transpose());
    }
  }
}

}  // namespace
}  // namespace superpose
