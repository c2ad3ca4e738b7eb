#include "training/recipes.h"

#include <cmath>
#include <numbers>

namespace superpose {

std::vector<LoudnessRecipe> recipes(int d_model) {
  const double root = std::sqrt(d_model), half = std::numbers::sqrt2 / 2;
  // Standard deviations; a sinusoid's rows have the root mean square 1 / sqrt(2), exactly where d_model is even.
  std::vector<LoudnessRecipe> all = {
      {"transformer", 1, half, 0}, {"unscaled", 1 / root, half, 0}, {"pytorch", 1, 1, 0},
      {"bert", 0.02, 0.02, 0},     {"gpt2", 0.02, 0.01, 0},
  };
  for (LoudnessRecipe& one : all) {
    one.tokens *= root;
    one.positions *= root;
    one.position_scale = std::numbers::sqrt2 * one.positions / one.tokens;
  }
  return all;
}

}  // namespace superpose
