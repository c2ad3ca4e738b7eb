#include "encodings/stretch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "encodings/rotary.h"

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

// The formulas as the papers print them, by wavelengths and with their own symbols.
TEST(Stretch, IsThePapersFormulas) {
  for (const auto& [d, base, s, trained, alpha, beta] : kSettings) {
    const auto by = [&, d = d, base = base, s = s, trained = trained, alpha = alpha,
                     beta = beta](Stretch way) {
      return rotary_frequencies(d, base, {way, s, trained, alpha, beta});
    };
    for (int i = 0; i < d / 2; ++i) {
      const double theta = std::exp(-2.0 * i / d * std::log(base));
      // f'(x, m, theta) = f(x, m / s, theta)
      EXPECT_NEAR(by(Stretch::interpolate)[i] / (theta / s), 1, 1e-13);
      // r = L / lambda, h(theta) = (1 - gamma(r)) theta / s + gamma(r) theta
      const double r = trained / (2 * EIGEN_PI / theta);
      const double gamma = r < alpha ? 0 : r > beta ? 1 : (r - alpha) / (beta - alpha);
      EXPECT_NEAR(by(Stretch::parts)[i] / ((1 - gamma) * theta / s + gamma * theta), 1, 1e-13);
    }
  }
}

TEST(Stretch, AtFactorOneIsTheIdentity) {
  for (const auto& [d, base, s, trained, alpha, beta] : kSettings) {
    const std::vector<double> plain = rotary_frequencies(d, base);
    for (const Stretch way : {Stretch::none, Stretch::interpolate, Stretch::parts}) {
      const std::vector<double> found = rotary_frequencies(d, base, {way, 1, trained, alpha, beta});
      for (int i = 0; i < d / 2; ++i) EXPECT_NEAR(found[i] / plain[i], 1, 1e-14);
    }
  }
}

// With the paper's alpha = 1 and beta = 32 no pair of a model of 16 positions turns once in a while: all of it is
// interpolation, but for the fastest pairs, which turn 2.5 times.
TEST(Stretch, PartsOfAShortModelAreInterpolation) {
  const std::vector<double> parts = rotary_frequencies(16, 1e4, {Stretch::parts, 4, 16, 1, 32});
  const std::vector<double> whole = rotary_frequencies(16, 1e4, {Stretch::interpolate, 4});
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
  const std::vector<double> paper = rotary_frequencies(d, base, {Stretch::parts, s, trained, 1, 32});
  const std::vector<double> plain = rotary_frequencies(d, base);
  double largest = 0;
  for (int i = 0; i < d / 2; ++i) {
    const double stays = 1 - std::fmin(1, std::fmax(0, (i - low) / (high - low)));
    const double theta = plain[i];
    largest = std::fmax(largest, std::abs(paper[i] / (theta * (stays + (1 - stays) / s)) - 1));
  }
  EXPECT_GT(largest, .2);
}

}  // namespace
}  // namespace superpose
