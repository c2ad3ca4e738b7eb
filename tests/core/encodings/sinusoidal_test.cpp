#include "encodings/sinusoidal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "encodings/layouts.h"
#include "random_shapes.h"

namespace superpose {
namespace {

Matrix<double> table(int positions, int d, Layout layout, Spacing spacing, double first = 0) {
  return sinusoidal<double>({positions, d, layout, spacing, 10000, first});
}

// The largest spread along a diagonal of M: 0 for a Toeplitz matrix.
double toeplitz_spread(const Matrix<double>& m) {
  double spread = 0;
  for (Eigen::Index offset = 1 - m.rows(); offset < m.cols(); ++offset) {
    const auto diagonal = m.diagonal(offset);
    spread = std::max(spread, diagonal.maxCoeff() - diagonal.minCoeff());
  }
  return spread;
}

// The discussions print float32, so a quoted number means the float nearest to it.
float as_float(double value) { return static_cast<float>(value); }

// The numbers that they quote come from tensor2tensor's layout and spacing.
TEST(Sinusoidal, ReproducesTheQuotedLastChannel) {
  for (int d : {4, 32, 128, 512}) {
    const auto pe = table(128, d, Layout::concatenated, Spacing::timescales);
    EXPECT_EQ(as_float(pe(63, d - 1)), 0.99998015f) << d;
    EXPECT_EQ(as_float(pe(127, d - 1)), 0.99991935f) << d;
  }
  const auto vaswani = table(128, 512, Layout::interleaved, Spacing::d_model);
  EXPECT_NEAR(vaswani(63, 511), 0.99997867, 5e-9);
  EXPECT_NEAR(vaswani(127, 511), 0.99991334, 5e-9);
  const auto narrow = table(128, 128, Layout::interleaved, Spacing::d_model);
  EXPECT_NEAR(narrow(63, 127), 0.99997354, 5e-9);
  EXPECT_NEAR(narrow(127, 127), 0.99989246, 5e-9);
}

// The quoted channel -16 comes from width 128, not from width 512 as the discussion says.
TEST(Sinusoidal, QuotedChannelMinus16IsOfWidth128) {
  const auto narrow = table(512, 128, Layout::concatenated, Spacing::timescales);
  EXPECT_EQ(as_float(narrow(63, 128 - 16)), 0.9984067f);
  EXPECT_EQ(as_float(narrow(127, 128 - 16)), 0.9935305f);
  const auto wide = table(128, 512, Layout::concatenated, Spacing::timescales);
  EXPECT_EQ(as_float(wide(63, 512 - 16)), 0.99994135f);
  EXPECT_EQ(as_float(wide(127, 512 - 16)), 0.99976170f);
}

TEST(Sinusoidal, FollowsEachFormulaChannelByChannel) {
  const int d = 10, n = 5;
  const auto interleaved = table(7, d, Layout::interleaved, Spacing::d_model, 3);
  const auto concatenated = table(7, d, Layout::concatenated, Spacing::timescales, 3);
  for (int row = 0; row < 7; ++row) {
    const double p = row + 3;
    for (int i = 0; i < n; ++i) {
      const double vaswani = 1 / std::pow(10000.0, 2.0 * i / d);
      const double t2t = std::exp(-i * std::log(10000.0) / (n - 1));
      EXPECT_NEAR(interleaved(row, 2 * i), std::sin(p * vaswani), 1e-14);
      EXPECT_NEAR(interleaved(row, 2 * i + 1), std::cos(p * vaswani), 1e-14);
      EXPECT_NEAR(concatenated(row, i), std::sin(p * t2t), 1e-14);
      EXPECT_NEAR(concatenated(row, n + i), std::cos(p * t2t), 1e-14);
    }
  }
}

TEST(Sinusoidal, OddWidths) {
  const auto zero_last = table(9, 7, Layout::concatenated, Spacing::timescales);
  EXPECT_EQ(zero_last.col(6).cwiseAbs().maxCoeff(), 0);
  EXPECT_LT(max_abs(zero_last.rowwise().squaredNorm().array() - 3), 1e-14);
  const auto lone_sine = table(9, 7, Layout::interleaved, Spacing::d_model);
  for (int p = 0; p < 9; ++p) {
    EXPECT_NEAR(lone_sine(p, 6), std::sin(p * std::pow(10000.0, -6.0 / 7)), 1e-15);
  }
  EXPECT_EQ(table(4, 1, Layout::concatenated, Spacing::timescales).cwiseAbs().maxCoeff(), 0);
  EXPECT_NEAR(table(4, 1, Layout::interleaved, Spacing::d_model)(3, 0), std::sin(3.0), 1e-15);
}

TEST(Sinusoidal, NoPositionsGiveAnEmptyTable) {
  EXPECT_EQ(table(0, 8, Layout::interleaved, Spacing::d_model).size(), 0);
}

// PE(p).PE(q) depends on p - q alone, for every layout and spacing, as long as each frequency keeps
// both its sine and its cosine.
TEST(Sinusoidal, GramIsToeplitzWhilePairsAreWhole) {
  for (Layout layout : kLayouts) {
    for (Spacing spacing : kSpacings) {
      for (int d : {2, 6, 32, 64}) {
        const auto pe = table(64, d, layout, spacing, 5);
        const Matrix<double> gram = pe * pe.transpose();
        EXPECT_LT(toeplitz_spread(gram), 1e-12) << d;
        EXPECT_LT(max_abs(gram.diagonal().array() - d / 2.0), 1e-12) << d;
      }
    }
  }
}

TEST(Sinusoidal, CentringOrDroppingCosinesBreaksToeplitz) {
  const auto t2t = table(64, 32, Layout::concatenated, Spacing::timescales);
  const Matrix<double> sines = t2t.leftCols(16);
  EXPECT_NEAR(toeplitz_spread(sines * sines.transpose()), 6.61, 0.005);
  const auto vaswani = table(64, 32, Layout::interleaved, Spacing::d_model);
  const Matrix<double> centred = vaswani.colwise() - vaswani.rowwise().mean().eval();
  EXPECT_NEAR(toeplitz_spread(centred * centred.transpose()), 8.30, 0.005);
  const auto lone_sine = table(64, 1, Layout::interleaved, Spacing::d_model);
  EXPECT_GT(toeplitz_spread(lone_sine * lone_sine.transpose()), 0.9);
}

// PE(p + k) = M_k PE(p), a rotation of each pair that does not depend on p. The three angles w(p + k),
// wp and wk are each rounded to 2^-53 of their size, and w <= 1; the rest is the last digits.
TEST(Sinusoidal, ShiftingIsARotationOfEachPair) {
  const int d = 32, positions = 1024;
  const SinusoidalOptions options{positions, d, Layout::interleaved, Spacing::d_model, 10000, 0};
  const auto pe = sinusoidal<double>(options);
  const auto w = sinusoidal_frequencies(options);
  for (int k : {1, 7, 100}) {
    for (int p = 0; p + k < positions; ++p) {
      const double bound = 2 * (p + k) * 0x1p-53 + 1e-15;
      for (int i = 0; i < d / 2; ++i) {
        const double s = pe(p, 2 * i), c = pe(p, 2 * i + 1);
        EXPECT_NEAR(pe(p + k, 2 * i), std::cos(k * w[i]) * s + std::sin(k * w[i]) * c, bound);
        EXPECT_NEAR(pe(p + k, 2 * i + 1), -std::sin(k * w[i]) * s + std::cos(k * w[i]) * c, bound);
      }
    }
  }
}

// Angles are formed in double: a float angle at p = 5000 would be off by up to 2e-4.
TEST(Sinusoidal, FloatTableIsTheRoundedDoubleTable) {
  for (Layout layout : kLayouts) {
    const SinusoidalOptions options{16, 64, layout, Spacing::d_model, 10000, 5000};
    const Matrix<float> rounded = sinusoidal<double>(options).cast<float>();
    EXPECT_EQ(sinusoidal<float>(options), rounded);
  }
}

}  // namespace
}  // namespace superpose
