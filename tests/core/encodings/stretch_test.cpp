#include "encodings/stretch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "encodings/rotary.h"
#include "random_shapes.h"

namespace superpose {
namespace {

struct Setting {
  int d;
  double base, factor, trained, alpha, beta;
};

// Llama 2 and 3 with YaRN's own alpha and beta, models as small as the page's, and what lies between.
const Setting kSettings[] = {
    {128, 1e4, 8, 4096, 1, 32},  {128, 1e4, 32, 4096, 1, 32}, {64, 1e4, 4, 2048, 1, 32},
    {128, 5e5, 4, 8192, 1, 32},  {16, 1e4, 4, 16, .1, 1},     {16, 10, 2, 16, .1, 1},
    {16, 1e6, 4, 16, .1, 1},     {80, 1e4, 2, 1024, 2, 16},   {4, 100, 3, 64, 1, 4},
    {256, 1e4, 16, 512, .5, 64},
};

std::vector<double> plain(int d, double base) {
  return rotary_frequencies(d, {1, Layout::interleaved, base});
}

// The formulas as the papers print them, by wavelengths and with their own symbols.
TEST(Stretch, IsThePapersFormulas) {
  for (const auto& [d, base, s, trained, alpha, beta] : kSettings) {
    const auto by = [&, d = d, base = base, s = s, trained = trained, alpha = alpha,
                     beta = beta](Stretch way) {
      return stretched(plain(d, base), base, {way, s, trained, alpha, beta});
    };
    for (int i = 0; i < d / 2; ++i) {
      const double theta = std::exp(-2.0 * i / d * std::log(base));
      // f'(x, m, theta) = f(x, m / s, theta)
      EXPECT_NEAR(by(Stretch::interpolate)[i] / (theta / s), 1, 1e-13);
      // b' = b s^(|D| / (|D| - 2)): theta' = b'^(-2i/|D|)
      const double wider = base * std::exp(std::log(s) * d / (d - 2.0));
      EXPECT_NEAR(by(Stretch::ntk)[i] / std::exp(-2.0 * i / d * std::log(wider)), 1, 1e-13);
      // r = L / lambda, h(theta) = (1 - gamma(r)) theta / s + gamma(r) theta
      const double r = trained / (2 * EIGEN_PI / theta);
      const double gamma = r < alpha ? 0 : r > beta ? 1 : (r - alpha) / (beta - alpha);
      for (const Stretch way : {Stretch::parts, Stretch::yarn}) {
        EXPECT_NEAR(by(way)[i] / ((1 - gamma) * theta / s + gamma * theta), 1, 1e-13);
      }
    }
    // 1 / sqrt(t) = 0.1 ln s + 1
    EXPECT_NEAR(stretch_gain({Stretch::yarn, s}), 0.1 * std::log(s) + 1, 1e-15);
    for (const Stretch way : {Stretch::none, Stretch::interpolate, Stretch::ntk, Stretch::parts}) {
      EXPECT_EQ(stretch_gain({way, s}), 1);
    }
  }
}

TEST(Stretch, AtFactorOneIsTheIdentity) {
  for (const auto& [d, base, s, trained, alpha, beta] : kSettings) {
    for (const Stretch way :
         {Stretch::none, Stretch::interpolate, Stretch::ntk, Stretch::parts, Stretch::yarn}) {
      const std::vector<double> found = stretched(plain(d, base), base, {way, 1, trained, alpha, beta});
      for (int i = 0; i < d / 2; ++i) EXPECT_NEAR(found[i] / plain(d, base)[i], 1, 1e-14);
      EXPECT_EQ(stretch_gain({way, 1}), 1);
    }
  }
}

// What the ways are for: the slowest pair of all turns no farther in s n positions than it did in n, and the fastest stays.
TEST(Stretch, NtkKeepsTheFastestPairAndInterpolatesTheSlowest) {
  for (const auto& [d, base, s, trained, alpha, beta] : kSettings) {
    const std::vector<double> found = stretched(plain(d, base), base, {Stretch::ntk, s});
    EXPECT_EQ(found.front(), 1);
    EXPECT_NEAR(found.back() * s / plain(d, base).back(), 1, 1e-12);
  }
}

// With the paper's alpha = 1 and beta = 32 no pair of a model of 16 positions turns once in a while: all of it is
// interpolation, but for the fastest pairs, which turn 2.5 times.
TEST(Stretch, PartsOfAShortModelAreInterpolation) {
  const std::vector<double> parts = stretched(plain(16, 1e4), 1e4, {Stretch::parts, 4, 16, 1, 32});
  const std::vector<double> whole = stretched(plain(16, 1e4), 1e4, {Stretch::interpolate, 4});
  for (int i = 1; i < 8; ++i) EXPECT_EQ(parts[i], whole[i]);
  EXPECT_NEAR(parts[0] / whole[0], 1, .15);
}

// The released code's ramp, written from it: over channels, from the dimension of beta turns to that of alpha turns.
TEST(Stretch, TheReleasedRampOverChannelsIsAnother) {
  const int d = 128;
  const double base = 1e4, trained = 4096, s = 8;
  const auto dimension = [&](double turns) {
    return d * std::log(trained / (turns * 2 * EIGEN_PI)) / (2 * std::log(base));
  };
  const double low = std::floor(dimension(32)), high = std::ceil(dimension(1));
  const std::vector<double> paper = stretched(plain(d, base), base, {Stretch::parts, s, trained, 1, 32});
  double largest = 0;
  for (int i = 0; i < d / 2; ++i) {
    const double stays = 1 - std::fmin(1, std::fmax(0, (i - low) / (high - low)));
    const double theta = plain(d, base)[i];
    largest = std::fmax(largest, std::abs(paper[i] / (theta * (stays + (1 - stays) / s)) - 1));
  }
  EXPECT_GT(largest, .2);
}

// Rows turned by stretched positions: interpolating is moving by a part of a position at a time.
TEST(Stretch, TurnsRows) {
  Shapes shapes(3);
  const Matrix<double> rows = shapes.matrix(9, 8);
  RotaryOptions options{2, Layout::concatenated, 100};
  options.stretch = {Stretch::interpolate, 4};
  RotaryOptions quarter{2, Layout::concatenated, 100};
  quarter.step = .25;
  EXPECT_LT(max_abs(rotate(rows, options) - rotate(rows, quarter)), 1e-14);
  options.stretch = {Stretch::yarn, 4, 16, .1, 1};
  const Matrix<double> longer = rotate(rows, options);
  for (int row = 0; row < 9; ++row) {
    EXPECT_NEAR(longer.row(row).norm() / rows.row(row).norm(), .1 * std::log(4) + 1, 1e-14);
  }
}

}  // namespace
}  // namespace superpose
