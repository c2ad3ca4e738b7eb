#include "training/recipes.h"

#include <cmath>
#include <numbers>

namespace superpose {

std::vector<Recipe> recipes(int d_model) {
  const double of_width = 1 / std::sqrt(d_model), of_sines = 1 / std::numbers::sqrt2;
  return {{"transformer", of_width, of_sines, true, Table::sinusoid},
          {"unscaled", of_width, of_sines, false, Table::sinusoid},
          {"pytorch", 1, 1, false, Table::learned},
          {"bert", 0.02, 0.02, false, Table::learned},
          {"gpt2", 0.02, 0.01, false, Table::learned}};
}

Loudness loudness(const Recipe& recipe, int d_model) {
  const double root = std::sqrt(d_model);
  return {recipe.sigma_tokens * root * (recipe.scale_tokens ? root : 1), recipe.sigma_positions * root};
}

double position_scale(const Loudness& of) { return std::numbers::sqrt2 * of.positions / of.tokens; }

}  // namespace superpose
