#include "model/tensor_part.h"

#include <gtest/gtest.h>

#include "random_shapes.h"

namespace superpose {
namespace {

// A tensor is written entry by entry from its maps, and each map is taken out of it again, in rows that are cut anywhere.
TEST(TensorPart, IsTakenOutOfATensorOfSeveralMaps) {
  Shapes shapes(23);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const bool transposed = shapes.coin();
    const int of = shapes.between(1, 3), heads = transposed ? 1 : shapes.between(1, 4);
    const int size = shapes.between(1, 12), outputs = heads * size, inputs = shapes.between(1, 20);
    std::vector<Matrix<double>> maps;
    for (int place = 0; place < of; ++place) maps.push_back(shapes.integers(outputs, inputs));
    Matrix<double> tensor(transposed ? inputs : of * outputs, transposed ? of * outputs : inputs);
    for (int place = 0; place < of; ++place) {
      for (int head = 0; head < heads; ++head) {
        for (int row = 0; row < size; ++row) {
          for (int c = 0; c < inputs; ++c) {
            const double value = maps[place](head * size + row, c);
            if (transposed)
              tensor(c, place * outputs + row) = value;
            else
              tensor((head * of + place) * size + row, c) = value;
          }
        }
      }
    }
    for (int place = 0; place < of; ++place) {
      TensorPart part{place, of, heads, transposed, {}};
      const int kind = shapes.between(0, 2);
      if (kind == 1) part.factors = {0.5};
      for (int o = 0; kind == 2 && o < outputs; ++o) part.factors.push_back(1 + o);
      PackedMatrix<double> found(outputs, inputs);
      for (int at = 0; at < tensor.rows();) {
        const int count = std::min(static_cast<int>(tensor.rows()) - at, shapes.between(1, 15));
        place_part<double>(part, tensor.middleRows(at, count), at, found);
        at += count;
      }
      Matrix<double> wanted = maps[place].transpose();
      if (kind == 1) wanted *= 0.5;
      for (int o = 0; kind == 2 && o < outputs; ++o) wanted.col(o) *= 1 + o;
      EXPECT_EQ(found.transposed(), wanted);
    }
  }
}

}  // namespace
}  // namespace superpose
