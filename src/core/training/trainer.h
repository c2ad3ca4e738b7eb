// A model in training: its parameters, their gradient and the optimizer.
//
// All memory is taken when it is made: steps and evaluations allocate nothing.
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

template <typename Scalar>
class Trainer {
 public:
  // Equal options and seeds give equal initial parameters in either scalar, up to rounding.
  Trainer(const ModelOptions& model, const OptimizerOptions& optimizer, std::uint32_t seed);

  // Takes a step and returns the batch's loss before it. Once the loss or gradient is not finite the run has
  // diverged: that step and all later ones change nothing.
  double step(const Batch& batch);

  bool diverged() const { return diverged_; }
  int steps() const { return optimizer_.steps(); }  // done

  // Sets which terms the first layer's scores have from now on, in steps and evaluations; at first, all.
  void keep(const Terms& terms) { kept_ = terms; }
  const Terms& kept() const { return kept_; }

  Evaluation evaluate(const Batch& batch) { return evaluate(batch, kept_); }
  Evaluation evaluate(const Batch& batch, const Terms& kept) {
    return model_.evaluate(parameters_.data(), batch, kept);
  }

  Model<Scalar>& model() { return model_; }
  const ModelOptions& options() const { return model_.options(); }
  const ParameterLayout& layout() const { return model_.layout(); }
  // In the layout's order; the caller may write them.
  Scalar* parameters() { return parameters_.data(); }

 private:
  Model<Scalar> model_;
  Optimizer<Scalar> optimizer_;
  std::vector<Scalar> parameters_, gradient_;
  Terms kept_ = kAllTerms;
  bool diverged_ = false;
};

}  // namespace superpose
