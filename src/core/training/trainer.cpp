#include "training/trainer.h"

#include <algorithm>
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

double trainer_bytes(const ModelOptions& options, double tokens) {
  const double V = options.vocabulary, classes = options.classes, L = options.positions;
  const double D = options.stream(), H = options.heads, layers = options.layers;
  // A part of a batch has at most this many tokens.
  const double rows = std::max(L, 64.0);
  const double each_layer = rows * (8 * D + L * H + 2) + 8 * D * D;
  // What backward() has in memory at once: the terms' parts, what the forward stored, and the gradients of
  // both.
  const double part = rows * (32 * D + 2 * L * H + 2 * classes + 4) + 4 * D * D + D * classes;
  // The values derived from the parameters once per batch, their gradients, and what computing both needs.
  const double derived =
      8 * (V + L) * D + 2 * D * classes + 3 * H * L * L + 8 * L * D + 4 * D * D + 2 * L * L;
  // Five times each: the parameter, its gradient, a second gradient and two moments.
  const double parameters = (V + L + classes + 2 * D) * D + layers * 4 * D * D + H * 2 * L;
  // Tables are measured in double.
  const double measured = 6 * (V + L) * D;
  return bytes_of_floats(layers * each_layer + part + derived + 5 * parameters) + bytes_of_doubles(measured) +
         bytes_of_ints(2 * tokens);
}

}  // namespace superpose
