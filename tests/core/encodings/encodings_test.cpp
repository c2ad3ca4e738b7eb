#include "encodings/encodings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"

namespace superpose {
namespace {

TEST(Encodings, FairseqStartsBehindItsPaddingRow) {
  const int d = 8, padding = 1;
  const Matrix<double> table = fairseq_sinusoidal<double>(5, d, padding);
  ASSERT_EQ(table.rows(), 7);
  EXPECT_EQ(table.row(padding).cwiseAbs().sum(), 0);
  for (int row = 0; row < 7; ++row) {
    if (row == padding) continue;
    for (int i = 0; i < 4; ++i) {
      const double w = std::exp(-i * std::log(10000.0) / 3);
      EXPECT_NEAR(table(row, i), std::sin(row * w), 1e-15);
      EXPECT_NEAR(table(row, 4 + i), std::cos(row * w), 1e-15);
    }
  }
}

TEST(Encodings, BertAddsThreeTables) {
  Shapes shapes(1);
  const Matrix<double> token = shapes.integers(3, 4), position = shapes.integers(9, 4);
  const Matrix<double> segment = shapes.integers(2, 4);
  const auto result = bert_embeddings<double>(token, position, segment, {0, 1, 1});
  for (int i = 0; i < 3; ++i) {
    for (int c = 0; c < 4; ++c) {
      EXPECT_EQ(result.sum(i, c), token(i, c) + position(i, c) + segment(i > 0, c));
      EXPECT_EQ(result.position(i, c), position(i, c));
      EXPECT_EQ(result.token_type(i, c), segment(i > 0, c));
    }
  }
  EXPECT_EQ(bert_embeddings<double>(Matrix<double>(0, 4), position, segment, {}).sum.rows(), 0);
}

}  // namespace
}  // namespace superpose
