// Gradients are those of central differences, and sequences of a batch do not meet.
#include "training/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sanitized.h"
#include "training_models.h"

namespace superpose {
namespace {

// Parameters that are large enough for no step of the model to be nearly linear.
Parameters any_parameters(const ModelOptions& options, Shapes& shapes) {
  Parameters parameters(options);
  for (const NamedParameter& each : named_parameters(options, parameters)) {
    const Matrix<double> values =
        shapes.matrix(each.values->rows(), each.values->cols(), each.decays ? 0.5 : 0.3);
    *each.values = (values.array() + (each.decays ? 0 : 1)).matrix().cast<float>();
  }
  return parameters;
}

// The loss's slope along a direction of length 1, to fourth order in h. In float, at h = 0.01, rounding is
// about 3e-5.
double slope(const Model& model, Parameters& parameters, Matrix<float>& values,
             const Matrix<float>& direction, const Batch& batch, const Terms& terms) {
  const Matrix<float> here = values;
  const auto difference = [&](float h) {
    values = here + h * direction;
    const double above = model.evaluate(parameters, batch, terms).loss;
    values = here - h * direction;
    const double below = model.evaluate(parameters, batch, terms).loss;
    values = here;
    return (above - below) / (2 * h);
  };
  return (4 * difference(0.01f) - difference(0.02f)) / 3;
}

// The largest error of a parameter's gradient along some directions. It is relative to the gradient's length
// or, if that is larger, to max(1, loss) / 10, because a float loss rounds in proportion to itself.
double gradient_error(const ModelOptions& options, Shapes& shapes, const Terms& terms = kAllTerms) {
  const Model model(options);
  Parameters parameters = any_parameters(options, shapes), gradient(options);
  // Drawn one after the other: compilers differ in the order of arguments.
  const int length = shapes.between(1, options.positions);
  const int sequences = shapes.between(1, 3);
  const BatchData batch = any_batch(options, sequences, length, shapes);
  const double loss = model.loss_and_gradient(parameters, batch.view(), gradient, terms);
  EXPECT_NEAR(loss, model.evaluate(parameters, batch.view(), terms).loss, 1e-6 * (1 + loss));
  double largest = 0;
  const std::vector<NamedParameter> all = named_parameters(options, parameters),
                                    gradients = named_parameters(options, gradient);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Matrix<float>& derivative = *gradients[k].values;
    if (!all[k].trained) {
      EXPECT_EQ(derivative.cwiseAbs().maxCoeff(), 0) << all[k].name;
      continue;
    }
    for (int trial = 0; trial < (kSanitized ? 2 : 8); ++trial) {
      const Matrix<float> drawn = shapes.matrix(derivative.rows(), derivative.cols(), 1).cast<float>();
      const Matrix<float> direction = drawn / drawn.norm();
      const double expected = slope(model, parameters, *all[k].values, direction, batch.view(), terms);
      const double difference = std::abs(expected - derivative.cwiseProduct(direction).sum());
      largest =
          std::max(largest, difference / std::max<double>(derivative.norm(), 0.1 * std::max(1.0, loss)));
    }
  }
  return largest;
}

// Every choice of terms, once in sixteen calls.
Terms some_terms(int choice) {
  Terms terms;
  for (int t = 0; t < kTermCount; ++t) terms[t] = (7 * choice + 3) >> t & 1;
  return terms;
}

struct Case {
  TrainingScheme scheme;
  Table table = Table::learned;
  bool fixed_tables = false;  // neither E nor P is trained

  std::string name() const {
    std::string name = name_of(scheme) + "_" + names(table)[static_cast<int>(table)];
    if (fixed_tables) name += "_fixed";
    std::replace(name.begin(), name.end(), '-', '_');  // names of tests have no hyphens
    return name;
  }
  unsigned seed() const {
    return 100 + 10 * static_cast<int>(scheme) + (fixed_tables ? 2 : static_cast<int>(table));
  }
};

class ModelGradient : public testing::TestWithParam<Case> {};

TEST_P(ModelGradient, IsTheCentralDifference) {
  Shapes shapes(GetParam().seed());
  double largest = 0;
  for (int choice = 0; choice < 16; ++choice) {
    ModelOptions options;
    options.scheme = GetParam().scheme;
    options.table = GetParam().table;
    options.fixed_tokens = options.fixed_positions = GetParam().fixed_tables;
    options.layer_norm = choice & 1;
    options.causal = choice & 4;
    options.layers = choice & 8 ? 2 : 1;
    options.scale_tokens = choice % 3 == 1;
    options.vocabulary = shapes.between(1, 7);
    options.classes = shapes.between(1, 6);
    options.positions = shapes.between(1, 6);
    options.heads = shapes.between(1, 3);
    // Below, at and above the number of a vector's lanes.
    options.d_model = options.heads * (options.scheme == TrainingScheme::rope ? 2 * shapes.between(1, 2)
                                                                              : shapes.between(1, 4));
    if (options.scheme == TrainingScheme::concat) {
      options.d_model = std::max(options.d_model, 2 * options.heads);
      options.d_position = shapes.between(1, options.d_model - 1);
    }
    // A LayerNorm of few channels bends too sharply for finite differences.
    while (options.layer_norm && options.stream() < 8) options.d_model *= 2;
    const double error = gradient_error(options, shapes);
    EXPECT_LT(error, 1e-3) << choice << " " << options.d_model << " " << options.heads;
    largest = std::max(largest, error);
    if (!options.has_terms()) continue;
    const double cut = gradient_error(options, shapes, some_terms(choice));
    EXPECT_LT(cut, 1e-3) << choice << " cut, " << options.d_model << " " << options.heads;
    largest = std::max(largest, cut);
  }
  std::printf("largest relative difference %.2g\n", largest);
}

// Every scheme; those with a table of positions, also with a sinusoid and with fixed tables.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const TrainingScheme scheme : all_schemes()) {
    cases.push_back({scheme});
    ModelOptions options;
    options.scheme = scheme;
    if (!options.has_table()) continue;
    cases.push_back({scheme, Table::sinusoid});
    cases.push_back({scheme, Table::learned, true});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Schemes, ModelGradient, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.name(); });

// No two of a model's parameters begin with the same draws.
TEST(Parameters, AreDrawnIndependently) {
  for (const TrainingScheme scheme : all_schemes()) {
    ModelOptions options;
    options.scheme = scheme;
    options.layers = 2;
    Parameters parameters = initial_parameters(options, 1);
    const std::vector<NamedParameter> all = named_parameters(options, parameters);
    for (const NamedParameter& left : all) {
      for (const NamedParameter& right : all) {
        if (&left >= &right || left.spread == 0 || right.spread == 0) continue;
        int equal = 0;
        for (int k = 0; k < 8; ++k)
          equal +=
              std::abs(left.values->data()[k] / left.spread - right.values->data()[k] / right.spread) < 1e-6;
        EXPECT_EQ(equal, 0) << name_of(scheme) << ' ' << left.name << ' ' << right.name;
      }
    }
  }
}

// A batch's loss and gradient are those of its sequences, for widths of whole vectors and over many parts.
TEST(Model, GradientsOfSequencesAddUp) {
  Shapes shapes(7);
  for (const TrainingScheme scheme : all_schemes()) {
    ModelOptions options;
    options.scheme = scheme;
    options.layers = 2;
    options.causal = shapes.coin();
    const Model model(options);
    const Parameters parameters = initial_parameters(options, 3);
    const BatchData batch = any_batch(options, 11, 16, shapes);
    const auto targets = [](const int* from, int count) {
      return static_cast<float>(std::count_if(from, from + count, [](int target) { return target >= 0; }));
    };
    Parameters of_batch(options), sum(options), of_sequence(options);
    const double loss = model.loss_and_gradient(parameters, batch.view(), of_batch);
    const std::vector<NamedParameter> of_batches = named_parameters(options, of_batch),
                                      sums = named_parameters(options, sum),
                                      of_sequences = named_parameters(options, of_sequence);
    double losses = 0;
    for (int s = 0; s < 11; ++s) {
      const Batch part{1, 16, &batch.tokens[s * 16], &batch.targets[s * 16]};
      const float share = targets(part.targets, 16) / targets(batch.targets.data(), 11 * 16);
      losses += share * model.loss_and_gradient(parameters, part, of_sequence);
      for (std::size_t k = 0; k < sums.size(); ++k) *sums[k].values += share * *of_sequences[k].values;
    }
    EXPECT_NEAR(losses, loss, 1e-6 * loss);
    for (std::size_t k = 0; k < sums.size(); ++k)
      EXPECT_LT((*sums[k].values - *of_batches[k].values).norm(), 1e-5 * of_batches[k].values->norm() + 1e-9)
          << name_of(scheme) << ' ' << sums[k].name;
  }
}

// A batch's answers are those of each sequence alone, however it is split into parts.
TEST(Model, SequencesDoNotMeet) {
  Shapes shapes(10);
  ModelOptions options;
  const Model model(options);
  const Parameters parameters = any_parameters(options, shapes);
  const BatchData batch = any_batch(options, 9, 14, shapes);
  const Matrix<float> all = model.logits(parameters, batch.view());
  for (int s = 0; s < 9; ++s) {
    const Matrix<float> logits = model.logits(parameters, {1, 14, &batch.tokens[s * 14], nullptr});
    EXPECT_LT((logits - all.middleRows(s * 14, 14)).cwiseAbs().maxCoeff(), 1e-5);
  }
}

}  // namespace
}  // namespace superpose
