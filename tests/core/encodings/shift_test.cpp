#include "encodings/shift.h"

#include <gtest/gtest.h>

#include <cmath>

#include "encodings/layouts.h"
#include "random_shapes.h"

namespace superpose {
namespace {

// Every entry written out, at the channels that the layouts define.
TEST(Shift, RotatesEachPair) {
  const double w[] = {1, 0.01};
  const double k = 3;
  for (Layout layout : kLayouts) {
    const Matrix<double> m = shift_operator({9, 4, layout, Spacing::d_model, 10000, 0}, k);
    Matrix<double> wanted = Matrix<double>::Zero(4, 4);
    for (int i = 0; i < 2; ++i) {
      const int s = layout == Layout::interleaved ? 2 * i : i;
      const int c = layout == Layout::interleaved ? 2 * i + 1 : 2 + i;
      wanted(s, s) = std::cos(k * w[i]);
      wanted(s, c) = std::sin(k * w[i]);
      wanted(c, s) = -std::sin(k * w[i]);
      wanted(c, c) = std::cos(k * w[i]);
    }
    EXPECT_LT(max_abs(m - wanted), 1e-15);
  }
}

// The angles w(p + k), wp and wk are each rounded to 2^-53 of their size, and w <= 1; the rest is the
// last digits. Measured: 1.14e-13 within 1024 positions, and below 4.5e-13 within 5000.
TEST(Shift, MovesEveryPositionInEveryLayout) {
  for (Layout layout : kLayouts) {
    for (Spacing spacing : kSpacings) {
      for (int k : {1, 7, 100}) {
        const double bound = 2 * 1024 * 0x1p-53 + 1e-15;
        EXPECT_LT(shift_error({1024 - k, 64, layout, spacing, 10000, 0}, k), bound);
        EXPECT_LT(shift_error({1024 - k, 64, layout, spacing, 10000, k * 1.0}, -k), bound);
      }
      EXPECT_LT(shift_error({4999, 64, layout, spacing, 10000, 0}, 1), 4.5e-13);
    }
  }
}

// The error is that of the definition; the table is not compared with itself.
TEST(Shift, ErrorIsThatOfEachRow) {
  const SinusoidalOptions options{6, 5, Layout::interleaved, Spacing::d_model, 10000, 2};
  SinusoidalOptions later = options;
  later.first_position = 6;
  const auto table = sinusoidal<double>(options), moved = sinusoidal<double>(later);
  const auto m = shift_operator(options, 4);
  double worst = 0;
  for (int p = 0; p < 6; ++p) {
    worst = std::max(worst, max_abs(moved.row(p).transpose() - m * table.row(p).transpose()));
  }
  EXPECT_NEAR(shift_error(options, 4), worst, 1e-15);
  EXPECT_GT(worst, 1e-3);  // the lone sine of an odd width
  EXPECT_LT(shift_error({6, 5, Layout::concatenated, Spacing::d_model, 10000, 2}, 4), 1e-14);
}

TEST(Shift, IsAnOrthogonalOneParameterGroup) {
  Shapes shapes(1);
  for (int trial = 0; trial < 20; ++trial) {
    const SinusoidalOptions options{1, shapes.between(1, 20), kLayouts[trial % 2], Spacing::d_model};
    const double k = shapes.between(-50, 50), l = shapes.between(-50, 50);
    const auto m = shift_operator(options, k);
    const int d = options.d_model;
    EXPECT_LT(max_abs(m * m.transpose() - Matrix<double>::Identity(d, d)), 1e-14);
    EXPECT_LT(max_abs(m * shift_operator(options, l) - shift_operator(options, k + l)), 1e-13);
  }
  EXPECT_EQ(shift_operator({0, 6}, 0), (Matrix<double>::Identity(6, 6)));
  EXPECT_EQ(shift_error({0, 6}, 3), 0);
}

// It acts on the encoding alone: it does not shift x + PE(p).
TEST(Shift, DoesNotShiftASum) {
  Shapes shapes(2);
  const SinusoidalOptions options{2, 16};
  const auto pe = sinusoidal<double>(options);
  const Matrix<double> x = shapes.matrix(1, 16);
  const Matrix<double> shifted = shift_operator(options, 1) * (x + pe.row(0)).transpose();
  EXPECT_GT(max_abs(shifted - (x + pe.row(1)).transpose()), 0.1);
}

}  // namespace
}  // namespace superpose
