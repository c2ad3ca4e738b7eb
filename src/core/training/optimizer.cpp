#include "training/optimizer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "training/kernels.h"

namespace superpose {

double learning_rate(const OptimizerOptions& options, int step) {
  const double warm = options.warm_up > 0 ? std::min(1.0, static_cast<double>(step) / options.warm_up) : 1;
  const double done = std::min(1.0, static_cast<double>(step) / options.steps);
  return options.learning_rate * warm * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * done)));
}

template <typename Scalar>
Optimizer<Scalar>::Optimizer(const OptimizerOptions& options, const ParameterLayout& layout)
    : options_(options), first_(layout.size()), second_(layout.size()) {
  std::copy_if(layout.all().begin(), layout.all().end(), std::back_inserter(trained_),
               [](const Parameter& parameter) { return parameter.trained; });
}

template <typename Scalar>
double Optimizer<Scalar>::step(const Scalar* gradient, Scalar* parameters) {
  double squares = 0;
  for (const Parameter& parameter : trained_) {
    const Scalar* const from = gradient + parameter.offset;
    squares += sum_of_products<Scalar>(from, from, parameter.size());
  }
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) return norm;

  ++steps_;
  const double rate = learning_rate(options_, steps_);
  AdamStep<Scalar> step{};
  step.rate = static_cast<Scalar>(rate);
  step.beta1 = static_cast<Scalar>(options_.beta1);
  step.beta2 = static_cast<Scalar>(options_.beta2);
  step.epsilon = static_cast<Scalar>(options_.epsilon);
  step.correction1 = static_cast<Scalar>(1 / (1 - std::pow(options_.beta1, steps_)));
  step.correction2 = static_cast<Scalar>(1 / (1 - std::pow(options_.beta2, steps_)));
  step.clip = static_cast<Scalar>(norm > options_.clip ? options_.clip / norm : 1);
  for (const Parameter& parameter : trained_) {
    step.decay = static_cast<Scalar>(parameter.decays ? options_.weight_decay : 0);
    const Eigen::Index at = parameter.offset;
    adam<Scalar>(step, gradient + at, parameter.size(), parameters + at, first_.data() + at,
                 second_.data() + at);
  }
  return norm;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace superpose
