// How large token and position rows are when training begins, in recipes that people use.
#pragma once

#include <vector>

#include "training/options.h"

namespace superpose {

struct Recipe {
  const char* name;
  // As in ModelOptions; a sinusoid of sines and cosines as they are has rms 1 / sqrt(2).
  double sigma_tokens, sigma_positions;
  bool scale_tokens;
  Table table;
};

// For rows of d_model channels:
//   transformer  N(0, 1/d) sqrt(d) and a sinusoid (arXiv 1706.03762, 3.4 and 3.5)
//   unscaled     the same without sqrt(d)
//   pytorch      N(0, 1) twice, as torch.nn.Embedding begins
//   bert         N(0, 0.02^2) twice (its released code)
//   gpt2         N(0, 0.02^2) and N(0, 0.01^2) (its released code)
std::vector<Recipe> recipes(int d_model);

// Root mean squares of the norms of rows of d_model channels as they are added: sigma sqrt(d), times sqrt(d)
// if scaled; a sinusoid's rows all have this norm where d_model is even.
struct Loudness {
  double tokens, positions;
};
Loudness loudness(const Recipe& recipe, int d_model);

// The factor rho that makes sinusoidal rows as loud beside tokens from N(0, 1) as positions are in a recipe: of
// such rows the norms are sqrt(d/2) and sqrt(d).
double position_scale(const Loudness& of);

}  // namespace superpose
