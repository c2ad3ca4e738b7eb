#include "encodings/gram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "encodings/layouts.h"
#include "numeric/orthogonal.h"
#include "random_shapes.h"

namespace superpose {
namespace {

constexpr SinusoidalOptions kVaswani{64, 32, Layout::interleaved, Spacing::d_model};
constexpr SinusoidalOptions kT2t{64, 32, Layout::concatenated, Spacing::timescales};

TEST(Gram, ToeplitzSpreadByHand) {
  Matrix<double> m(3, 3);
  m << 1, 2, 3, 4, 1, 2, 5, 7, 1;
  EXPECT_EQ(toeplitz_spread(m), 3);  // 4 and 7 below the diagonal
  m(2, 1) = 4;
  EXPECT_EQ(toeplitz_spread(m), 0);
  m(0, 1) = -8;
  EXPECT_EQ(toeplitz_spread(m), 10);  // and above it
  EXPECT_EQ(toeplitz_spread(Matrix<double>(0, 0)), 0);
  EXPECT_EQ(toeplitz_spread(Matrix<double>::Ones(1, 1)), 0);
}

TEST(Gram, ProductsByLoops) {
  Shapes shapes(1);
  const Matrix<double> table = shapes.matrix(5, 4), form = shapes.matrix(4, 4);
  const auto dots = gram(table), bilinear = bilinear_gram(table, form);
  for (int p = 0; p < 5; ++p) {
    for (int q = 0; q < 5; ++q) {
      double dot = 0, with_form = 0;
      for (int i = 0; i < 4; ++i) {
        dot += table(p, i) * table(q, i);
        for (int k = 0; k < 4; ++k) with_form += table(p, i) * form(i, k) * table(q, k);
      }
      EXPECT_NEAR(dots(p, q), dot, 1e-14);
      EXPECT_NEAR(bilinear(p, q), with_form, 1e-13);
    }
  }
}

// 0 on paper; the sums of d/2 cosines have rounded angles (science.md, sections 10 and 11).
TEST(Gram, IsToeplitzInEveryLayout) {
  for (Layout layout : kLayouts) {
    for (Spacing spacing : kSpacings) {
      for (int d : {2, 31, 32}) {
        if (d % 2 && layout == Layout::interleaved) continue;
        const SinusoidalOptions options{64, d, layout, spacing, 10000, 3};
        const auto spreads = gram_spreads(options, 1);
        EXPECT_LT(spreads.whole, 1e-12);
        // Each |a| of the form meets two entries, whose angles, up to 3 + 64, are rounded, and at most 2 d
        // sums and products; a spread is the difference of two such values.
        const double of_form = rotation_form(options, 1).cwiseAbs().sum();
        EXPECT_LT(spreads.rotation_form, 2 * of_form * (2 * (3 + 64 + 1) + 2 * d) * 0x1p-53);
      }
    }
  }
  const auto wide = sinusoidal<double>({512, 768, Layout::interleaved, Spacing::d_model});
  EXPECT_LT(toeplitz_spread(gram(wide)), 2.6e-12);
}

TEST(Gram, PublishedSpreads) {
  const auto vaswani = gram_spreads(kVaswani, 1), t2t = gram_spreads(kT2t, 1);
  EXPECT_NEAR(t2t.sines, 6.61, 0.005);
  EXPECT_NEAR(vaswani.sines, 6.08, 0.005);
  EXPECT_NEAR(vaswani.centred, 8.30, 0.005);
  EXPECT_NEAR(t2t.centred, 8.15, 0.005);
}

// The first half of the channels contains whole pairs of an interleaved table when d/2 is even.
TEST(Gram, TruncatingAnInterleavedTable) {
  const auto even = sinusoidal<double>({64, 32});
  EXPECT_LT(toeplitz_spread(gram(even.leftCols(16))), 1e-12);
  const auto odd = sinusoidal<double>({64, 34});
  EXPECT_NEAR(toeplitz_spread(gram(odd.leftCols(17))), 0.54, 0.005);
}

// A ~ N(0, 1/d). Two entries of the main diagonal, from loops, are a lower bound of the spread.
// |PE|^2 = d/2 bounds each entry by d/2 |A|, so no spread is above d |A|.
TEST(Gram, AGenericFormBreaksIt) {
  const int d = kVaswani.d_model;
  const auto table = sinusoidal<double>(kVaswani);
  for (int seed = 0; seed < 40; ++seed) {
    const double spread = gram_spreads(kVaswani, seed).random_form;
    const auto form = random_form(d, seed);
    double low = INFINITY, high = -INFINITY;
    for (int p = 0; p < kVaswani.positions; ++p) {
      double entry = 0;
      for (int i = 0; i < d; ++i) {
        for (int k = 0; k < d; ++k) entry += table(p, i) * form(i, k) * table(p, k);
      }
      low = std::min(low, entry);
      high = std::max(high, entry);
    }
    // What rounding could make of no spread at all, as for the form that keeps the pattern.
    const double rounding = 2 * form.cwiseAbs().sum() * (2 * (64 + 1) + 2 * d) * 0x1p-53;
    EXPECT_GE(spread, high - low - rounding);
    EXPECT_GT(high - low, 1e6 * rounding);
    EXPECT_LE(spread, d * singular_values(form)[0] + rounding);
  }
}

TEST(Gram, RandomFormHasVarianceOneOverD) {
  const int d = 64;
  const auto form = random_form(d, 3);
  // The sum of d^2 squares of N(0, 1/d): mean d, standard deviation sqrt(2).
  EXPECT_NEAR(form.squaredNorm(), d, 5 * std::sqrt(2.0));
  EXPECT_NE(random_form(d, 4), form);
}

// aI + bJ commutes with every shift and is neither 0 nor a multiple of I.
TEST(Gram, RotationFormIsAPerFrequencyRotation) {
  const SinusoidalOptions options{64, 6, Layout::concatenated, Spacing::timescales};
  const auto form = rotation_form(options, 5);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(form(i, i), form(3 + i, 3 + i));
    EXPECT_EQ(form(i, 3 + i), -form(3 + i, i));
    EXPECT_NE(form(i, i), 0);
    EXPECT_NE(form(i, 3 + i), 0);
  }
  EXPECT_EQ((form.array() != 0).count(), 12);
  Matrix<double> broken = form;
  broken(0, 3) = -broken(0, 3);
  EXPECT_GT(toeplitz_spread(bilinear_gram(sinusoidal<double>(options), broken)), 0.1);
}

TEST(Gram, OffsetMeansByHand) {
  Matrix<double> m(2, 2);
  m << 1, 2, 6, 5;
  const auto found = offset_means(m);
  EXPECT_EQ(found.mean, 3.5);
  EXPECT_EQ(found.means[0], 6);
  EXPECT_EQ(found.means[1], 3);
  EXPECT_EQ(found.means[2], 2);
  EXPECT_EQ(found.kernel[0], 2.5);
  EXPECT_EQ(found.apart, 2);
  // 2.5^2 + 2 * 0.5^2 + 1.5^2 of 2.5^2 + 1.5^2 + 2.5^2 + 1.5^2
  EXPECT_NEAR(found.share, 9.0 / 17, 1e-15);
  EXPECT_TRUE(std::isnan(offset_means(Matrix<double>::Ones(3, 3)).share));
  for (int n = 1; n < 30; ++n) {
    // Means of these are rounded.
    EXPECT_TRUE(std::isnan(offset_means(Matrix<double>::Constant(n, n, 0.1 * n)).share)) << n;
  }
  EXPECT_TRUE(std::isnan(offset_means(Matrix<double>(0, 0)).mean));
  EXPECT_EQ(offset_means(Matrix<double>(0, 0)).means.size(), 0);
}

// Found by the fuzzer: entries that differ from their mean in the tenth digit, so rounding reaches the
// share's seventh.
TEST(Gram, NoShareIsAboveOne) {
  const Matrix<double> square = (Matrix<double>(2, 2) << 7.9140592507381998e269, 7.9140592507381998e269,
                                 7.9140592452030578e269, 7.9140592507379101e269)
                                    .finished();
  const double share = offset_means(square).share;
  EXPECT_LE(share, 1);
  EXPECT_NEAR(share, 1, 1e-6);
}

// The mean at an offset of a Toeplitz matrix is its entry: sum_i cos(w_i (p - q)).
TEST(Gram, OffsetMeansOfPositions) {
  const auto found = offset_means(form_grams(kT2t, 1).whole);
  EXPECT_LT(found.apart, 1e-12);
  EXPECT_NEAR(found.share, 1, 1e-12);
  double cosines = 0;
  for (double w : sinusoidal_frequencies(kT2t)) cosines += std::cos(5 * w);
  EXPECT_NEAR(found.means[63 + 5], cosines, 1e-12);
  EXPECT_NEAR(found.means[63 - 5], cosines, 1e-12);
}

TEST(Gram, SinesOnly) {
  for (const auto& options : {kVaswani, kT2t}) {
    const auto sines = sines_only(sinusoidal<double>(options), options);
    ASSERT_EQ(sines.cols(), 16);
    EXPECT_EQ(max_abs(sines.row(0)), 0);
    EXPECT_NEAR(sines(1, 0), std::sin(1.0), 1e-15);
  }
  EXPECT_EQ(gram_spreads({0, 8}, 1).whole, 0);
  EXPECT_EQ(gram_spreads({3, 1, Layout::concatenated}, 1).random_form, 0);
}

}  // namespace
}  // namespace superpose
