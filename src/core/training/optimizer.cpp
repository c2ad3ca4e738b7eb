#include "training/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "training/product.h"

namespace superpose {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.98, kEpsilon = 1e-8;
constexpr double kClip = 1;  // the largest norm of all gradients together, before the moments

}  // namespace

double learning_rate(const OptimizerOptions& options, int step) {
  const double warm = options.warm_up > 0 ? std::min(1.0, static_cast<double>(step) / options.warm_up) : 1;
  if (options.schedule == Schedule::constant) return options.learning_rate * warm;
  const double progress = std::min(1.0, static_cast<double>(step) / options.steps);
  return options.learning_rate * warm * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * progress)));
}

Optimizer::Optimizer(const OptimizerOptions& options, const ModelOptions& model)
    : options_(options), model_(model), first_(model), second_(model) {}

double Optimizer::step(Parameters& gradient, Parameters& parameters) {
  const auto gradients = named_parameters(model_, gradient), thetas = named_parameters(model_, parameters);
  const auto firsts = named_parameters(model_, first_), seconds = named_parameters(model_, second_);
  double squares = 0;
  for (const NamedParameter& parameter : gradients)
    if (parameter.trained) squares += row_dots(*parameter.values, *parameter.values).cast<double>().sum();
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) return norm;

  ++steps_;
  const auto number = [](double value) { return static_cast<float>(value); };
  const double rate = learning_rate(options_, steps_);
  const float lr = number(rate), clip = number(norm > kClip ? kClip / norm : 1);
  const float beta1 = number(kBeta1), beta2 = number(kBeta2);
  const float correction1 = number(1 / (1 - std::pow(kBeta1, steps_)));
  const float correction2 = number(1 / (1 - std::pow(kBeta2, steps_)));
  for (std::size_t k = 0; k < thetas.size(); ++k) {
    if (!thetas[k].trained) continue;
    auto theta = thetas[k].values->array();
    auto m = firsts[k].values->array(), v = seconds[k].values->array();
    auto g = gradients[k].values->array();
    const float decay = number(thetas[k].decays ? options_.weight_decay : 0);
    g *= clip;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    theta = theta * (1 - lr * decay) - lr * correction1 * m / ((correction2 * v).sqrt() + number(kEpsilon));
  }
  return norm;
}

}  // namespace superpose
