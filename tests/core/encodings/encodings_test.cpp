#include "encodings/encodings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"

namespace superpose {
namespace {

// The order of the axes, which the reference's own names hide: (h 0, w 1) changes the first half.
TEST(Encodings, MaeEncodesTheColumnFirst) {
  const Matrix<double> table = mae_sinusoidal<double>(2, 8, false);
  ASSERT_EQ(table.rows(), 4);
  const double w1[] = {0.841471, 0.01, 0.540302, 0.99995}, origin[] = {0, 0, 1, 1};
  for (int c = 0; c < 4; ++c) {
    EXPECT_NEAR(table(1, c), w1[c], 5e-7);
    EXPECT_EQ(table(1, 4 + c), origin[c]);
    EXPECT_EQ(table(2, c), origin[c]);
    EXPECT_NEAR(table(2, 4 + c), w1[c], 5e-7);
  }
}

TEST(Encodings, MaeIsTheFormulaBehindARowOfZeros) {
  const int grid = 5, d = 16;
  const Matrix<double> bare = mae_sinusoidal<double>(grid, d, false);
  const Matrix<double> table = mae_sinusoidal<double>(grid, d, true);
  ASSERT_EQ(table.rows(), grid * grid + 1);
  EXPECT_EQ(table.row(0).cwiseAbs().sum(), 0);
  EXPECT_EQ(table.bottomRows(grid * grid), bare);
  for (int h = 0; h < grid; ++h) {
    for (int w = 0; w < grid; ++w) {
      for (int i = 0; i < d / 4; ++i) {
        const double omega = std::pow(10000.0, -i / (d / 4.0));
        const auto row = bare.row(h * grid + w);
        EXPECT_NEAR(row[i], std::sin(w * omega), 1e-15);
        EXPECT_NEAR(row[d / 4 + i], std::cos(w * omega), 1e-15);
        EXPECT_NEAR(row[d / 2 + i], std::sin(h * omega), 1e-15);
        EXPECT_NEAR(row[3 * d / 4 + i], std::cos(h * omega), 1e-15);
      }
    }
  }
}

TEST(Encodings, MaeGramDependsOnTheTwoOffsetsAlone) {
  const int grid = 6;
  const Matrix<double> table = mae_sinusoidal<double>(grid, 24, false);
  const auto gram = [&](int h, int w, int h2, int w2) {
    return table.row(h * grid + w).dot(table.row(h2 * grid + w2));
  };
  for (int dh = 0; dh < 4; ++dh) {
    for (int dw = 0; dw < 4; ++dw) {
      EXPECT_NEAR(gram(0, 0, dh, dw), gram(2, 1, 2 + dh, 1 + dw), 1e-13);
      EXPECT_NEAR(gram(0, 0, dh, dw), gram(2 + dh, 1, 2, 1 + dw), 1e-13);
    }
  }
}

TEST(Encodings, Tensor2TensorInAnyNumberOfDimensions) {
  const int rows = 3, columns = 4, d = 11, n = 2;  // 11 / 4 timescales a dimension; 3 channels left
  const Matrix<double> table = tensor2tensor_sinusoidal<double>({rows, columns}, d, 1, 10000);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      for (int i = 0; i < n; ++i) {
        const double w = std::exp(-i * std::log(10000.0) / (n - 1));
        const auto row = table.row(r * columns + c);
        EXPECT_NEAR(row[i], std::sin(r * w), 1e-15);
        EXPECT_NEAR(row[n + i], std::cos(r * w), 1e-15);
        EXPECT_NEAR(row[2 * n + i], std::sin(c * w), 1e-15);
        EXPECT_NEAR(row[3 * n + i], std::cos(c * w), 1e-15);
        EXPECT_EQ(row.tail(3).cwiseAbs().sum(), 0);
      }
    }
  }
}

TEST(Encodings, Tensor2TensorInOneDimensionWithTimescales) {
  const int n = 4, d = 9;
  const Matrix<double> table = tensor2tensor_sinusoidal<double>({20}, d, 2, 500);
  for (int p = 0; p < 20; ++p) {
    for (int i = 0; i < n; ++i) {
      const double w = 2 * std::exp(-i * std::log(250.0) / (n - 1));
      EXPECT_NEAR(table(p, i), std::sin(p * w), 1e-13);
      EXPECT_NEAR(table(p, n + i), std::cos(p * w), 1e-13);
    }
    EXPECT_EQ(table(p, 8), 0);
  }
  EXPECT_EQ(tensor2tensor_sinusoidal<double>({0, 3}, 8, 1, 10000).rows(), 0);
  EXPECT_EQ(tensor2tensor_sinusoidal<double>({2, 3}, 3, 1, 10000), Matrix<double>::Zero(6, 3));
}

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
