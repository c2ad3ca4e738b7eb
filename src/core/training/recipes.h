// How large token and position rows are when training begins, in recipes that people use.
#pragma once

#include <vector>

namespace superpose {

// Root mean squares of the norms of rows as they are added.
struct Loudness {
  double tokens, positions;
};

struct LoudnessRecipe {
  const char* name;
  double tokens, positions;
  // The factor rho that makes sinusoidal rows as loud beside tokens from N(0, 1) as positions are in the recipe: of
  // such rows the norms are sqrt(d/2) and sqrt(d).
  double position_scale;
};

// For rows of d_model channels, by closed form:
//   transformer  N(0, 1/d) sqrt(d) and a sinusoid (arXiv 1706.03762, 3.4 and 3.5)
//   unscaled     the same without sqrt(d)
//   pytorch      N(0, 1) twice, as torch.nn.Embedding begins
//   bert         N(0, 0.02^2) twice (its released code)
//   gpt2         N(0, 0.02^2) and N(0, 0.01^2) (its released code)
std::vector<LoudnessRecipe> recipes(int d_model);

}  // namespace superpose
