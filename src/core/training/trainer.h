// A model in training: its parameters, their gradient and the optimizer.
#pragma once

#include <cstdint>
#include <vector>

#include "training/model.h"
#include "training/optimizer.h"

namespace superpose {

// Seeded examples of a task, a new batch at each call.
class Examples {
 public:
  // Separate streams of one seed: for training, and for evaluation.
  enum Use : std::uint32_t { training = 1000, evaluation = 1001 };

  Examples(const TaskOptions& task, int sequences, std::uint32_t seed, Use use);

  // Valid until the next call.
  Batch next();

 private:
  TaskOptions task_;
  int sequences_;
  Random random_;
  std::vector<int> tokens_, targets_;
};

class Trainer {
 public:
  // Equal options and seeds give equal initial parameters.
  Trainer(const ModelOptions& model, const OptimizerOptions& optimizer, std::uint32_t seed);

  // Takes a step and returns the batch's loss before it. Once the loss or gradient is not finite the run has
  // diverged: that step and all later ones change nothing.
  double step(const Batch& batch);

  bool diverged() const { return diverged_; }
  int steps() const { return optimizer_.steps(); }  // done

  // Sets which terms the first layer's scores have from now on, in steps and evaluations; at first, all.
  void keep(const Terms& terms) { kept_ = terms; }
  const Terms& kept() const { return kept_; }

  Evaluation evaluate(const Batch& batch, const Terms& kept) {
    return model_.evaluate(parameters_, batch, kept);
  }

  const Model& model() const { return model_; }
  const ModelOptions& options() const { return model_.options(); }
  Parameters& parameters() { return parameters_; }

 private:
  Model model_;
  Optimizer optimizer_;
  Parameters parameters_, gradient_;
  Terms kept_ = kAllTerms;
  bool diverged_ = false;
};

}  // namespace superpose
