// A model in training: its parameters, their gradient and the optimizer.
#pragma once

#include <cstdint>
#include <vector>

#include "numeric/bytes.h"
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

  // Takes a step, and returns the batch's loss before it. Once the loss or the gradient is not finite, the
  // run has diverged: that step and all later ones change nothing.
  double step(const Batch& batch);

  bool diverged() const { return diverged_; }

  // Sets which terms the first layer's scores include in the steps from now on; initially all.
  void set_terms(const Terms& terms) { terms_ = terms; }
  const Terms& terms() const { return terms_; }

  Evaluation evaluate(const Batch& batch, const Terms& terms) {
    return model_.evaluate(parameters_, batch, terms);
  }

  const Model& model() const { return model_; }
  const ModelOptions& options() const { return model_.options(); }
  Parameters& parameters() { return parameters_; }

 private:
  Model model_;
  Optimizer optimizer_;
  Parameters parameters_, gradient_;
  Terms terms_ = kAllTerms;
  bool diverged_ = false;
};

// The bytes of a trainer and its measurements for batches of `tokens` tokens: an upper bound.
double trainer_bytes(const ModelOptions& options, double tokens);

// The bytes of the logits and of the attention of a batch of `tokens` tokens, in sequences of n.
constexpr double trainer_logits_bytes(double tokens, double classes) {
  return batch_bytes(tokens) + bytes_of_floats(4 * tokens * classes);
}
constexpr double trainer_attention_bytes(double tokens, double heads, double n) {
  return batch_bytes(tokens) + bytes_of_floats(4 * tokens * heads * n);
}

}  // namespace superpose
