// AdamW on a model's parameters.
#pragma once

#include <vector>

#include "training/options.h"
#include "training/parameters.h"

namespace superpose {

// The learning rate lr_s (options.h) at step s, counted from 1.
double learning_rate(const OptimizerOptions& options, int step);

class Optimizer {
 public:
  Optimizer(const OptimizerOptions& options, const ModelOptions& model);

  // Takes one step, and returns the norm of all trained parameters' gradients before clipping. If it is not
  // finite, nothing changes and the step does not count.
  double step(Parameters& gradient, Parameters& parameters);

 private:
  OptimizerOptions options_;
  ModelOptions model_;
  Parameters first_, second_;  // moments
  int steps_ = 0;
};

}  // namespace superpose
