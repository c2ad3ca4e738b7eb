// AdamW on a model's list of parameters.
#pragma once

#include <vector>

#include "training/options.h"
#include "training/parameters.h"

namespace superpose {

// lr_s of step s, s from 1.
double learning_rate(const OptimizerOptions& options, int step);

template <typename Scalar>
class Optimizer {
 public:
  Optimizer(const OptimizerOptions& options, const ParameterLayout& layout);

  // Takes one step; returns the norm of all trained parameters' gradients before clipping. When that is
  // not finite, nothing changes and the step does not count. Gradients of other parameters are 0.
  double step(const Scalar* gradient, Scalar* parameters);

  int steps() const { return steps_; }

 private:
  OptimizerOptions options_;
  std::vector<Parameter> trained_;
  std::vector<Scalar> first_, second_;
  int steps_ = 0;
};

}  // namespace superpose
