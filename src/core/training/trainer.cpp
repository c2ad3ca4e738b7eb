#include "training/trainer.h"

#include <cmath>

namespace superpose {

Examples::Examples(const TaskOptions& task, int sequences, std::uint32_t seed, Use use)
    : task_(task),
      sequences_(sequences),
      random_(seed, use),
      tokens_(static_cast<std::size_t>(sequences) * task.n),
      targets_(tokens_.size()) {}

Batch Examples::next() {
  for (int s = 0; s < sequences_; ++s) {
    int* const tokens = tokens_.data() + static_cast<std::size_t>(s) * task_.n;
    draw_tokens(task_, random_, tokens);
    find_targets(task_, tokens, targets_.data() + static_cast<std::size_t>(s) * task_.n);
  }
  return {sequences_, task_.n, tokens_.data(), targets_.data()};
}

Trainer::Trainer(const ModelOptions& model, const OptimizerOptions& optimizer, std::uint32_t seed)
    : model_(model),
      optimizer_(optimizer, model),
      parameters_(initial_parameters(model, seed)),
      gradient_(model) {}

double Trainer::step(const Batch& batch) {
  const double loss = model_.loss_and_gradient(parameters_, batch, gradient_, terms_);
  diverged_ = diverged_ || !std::isfinite(loss);
  if (diverged_) return loss;
  diverged_ = !std::isfinite(optimizer_.step(gradient_, parameters_));
  return loss;
}

}  // namespace superpose
