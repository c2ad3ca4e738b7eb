#include "training/recipes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "encodings/sinusoidal.h"
#include "numeric/random.h"

namespace superpose {
namespace {

// The ratios of position to token, from the definitions by hand: sqrt(d/2) against sqrt(d), against 1, and so on.
TEST(Recipes, RatiosByHand) {
  for (const int d : {32, 128, 512}) {
    const double wanted[] = {1 / std::sqrt(2), std::sqrt(d / 2.0), 1, 1, 0.5};
    const std::vector<Recipe> all = recipes(d);
    ASSERT_EQ(all.size(), std::size(wanted));
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto [tokens, positions] = loudness(all[k], d);
      EXPECT_NEAR(positions / tokens, wanted[k], 1e-12) << all[k].name;
    }
  }
  EXPECT_NEAR(loudness(recipes(512)[0], 512).tokens, std::sqrt(512), 1e-12);
  EXPECT_NEAR(loudness(recipes(512)[3], 512).tokens, 0.4525483399593904, 1e-12);
}

// Tokens from N(0, 1) and sinusoids, drawn: with rho they are as loud to one another as the recipe says.
TEST(Recipes, RhoMakesRowsAsLoud) {
  const int d = 256;
  SinusoidalOptions options;
  options.positions = 9;
  options.d_model = d;
  const auto tokens = random_normal<double>(4000, d, 1, 1, 0);
  const auto positions = sinusoidal(options);
  for (const Recipe& recipe : recipes(d)) {
    const Loudness wanted = loudness(recipe, d);
    const double rows = std::sqrt(9 / 4000.0), ratio = rows * tokens.norm() / positions.norm();
    EXPECT_NEAR(position_scale(wanted) / (ratio * wanted.positions / wanted.tokens), 1, 0.002) << recipe.name;
  }
}

}  // namespace
}  // namespace superpose
