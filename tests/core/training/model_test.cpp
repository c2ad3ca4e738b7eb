#include "training/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sanitized.h"
#include "training_models.h"

namespace superpose {
namespace {

// Parameters large enough that nothing is nearly linear.
std::vector<double> any_parameters(const ParameterLayout& layout, Shapes& shapes) {
  std::vector<double> list(layout.size());
  for (const Parameter& parameter : layout.all()) {
    const Matrix<double> values =
        shapes.matrix(parameter.rows, parameter.columns, parameter.decays ? 0.5 : 0.3).array() +
        (parameter.decays ? 0 : 1);
    std::copy_n(values.data(), values.size(), list.data() + parameter.offset);
  }
  return list;
}

// Fourth order in h: at h = 1e-4 what remains is rounding, about 1e-16 / h.
double slope(Model<double>& model, std::vector<double>& parameters, Eigen::Index at, const Batch& batch,
             const Terms& kept) {
  const double here = parameters[at];
  const auto difference = [&](double h) {
    parameters[at] = here + h;
    const double above = model.evaluate(parameters.data(), batch, kept).loss;
    parameters[at] = here - h;
    const double below = model.evaluate(parameters.data(), batch, kept).loss;
    parameters[at] = here;
    return (above - below) / (2 * h);
  };
  return (4 * difference(1e-4) - difference(2e-4)) / 3;
}

// The largest error of a parameter's gradient, relative to its largest entry or a thousandth.
double gradient_error(const ModelOptions& options, Shapes& shapes, const Terms& kept = kAllTerms) {
  Model<double> model(options);
  std::vector<double> parameters = any_parameters(model.layout(), shapes);
  // Drawn one after the other: compilers differ in the order of arguments.
  const int length = shapes.between(1, options.rows);
  const int sequences = shapes.between(1, 3);
  const OwnBatch batch = any_batch(options, sequences, length, shapes);
  std::vector<double> gradient(model.layout().size());
  const double loss = model.loss_and_gradient(parameters.data(), batch.view(), gradient.data(), kept);
  EXPECT_NEAR(loss, model.evaluate(parameters.data(), batch.view(), kept).loss, 1e-13 * (1 + loss));
  double largest = 0;
  for (const Parameter& parameter : model.layout().all()) {
    const ConstMatrixMap<double> found(gradient.data() + parameter.offset, parameter.rows, parameter.columns);
    if (!parameter.trained) {
      EXPECT_EQ(max_abs(found), 0) << parameter.name;
      continue;
    }
    double difference = 0;
    for (Eigen::Index k = 0; k < parameter.size(); k += kSanitized ? 7 : 1) {
      const double wanted = slope(model, parameters, parameter.offset + k, batch.view(), kept);
      difference = std::max(difference, std::abs(wanted - gradient[parameter.offset + k]));
    }
    largest = std::max(largest, difference / std::max(max_abs(found), 1e-3));
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
  Table table;

  std::string name() const {
    constexpr const char* kTables[] = {"learned", "sinusoid", "frozen"};
    std::string name = name_of(scheme) + "_" + kTables[static_cast<int>(table)];
    std::replace(name.begin(), name.end(), '-', '_');  // names of tests have no hyphens
    return name;
  }
};

class ModelGradient : public testing::TestWithParam<Case> {};

TEST_P(ModelGradient, IsTheCentralDifference) {
  Shapes shapes(100 + 10 * static_cast<int>(GetParam().scheme) + static_cast<int>(GetParam().table));
  double largest = 0;
  for (int choice = 0; choice < 16; ++choice) {
    ModelOptions options;
    options.scheme = GetParam().scheme;
    options.table = GetParam().table;
    options.layer_norm = choice & 1;
    options.causal = choice & 4;
    options.layers = choice & 8 ? 2 : 1;
    options.scale_tokens = choice % 3 == 1;
    options.vocabulary = shapes.between(1, 7);
    options.classes = shapes.between(1, 6);
    options.rows = shapes.between(1, 6);
    options.heads = shapes.between(1, 3);
    // Below, at and above the number of a vector's lanes.
    options.width = options.heads * (options.scheme == TrainingScheme::rope ? 2 * shapes.between(1, 2)
                                                                            : shapes.between(1, 4));
    if (options.scheme == TrainingScheme::concat) {
      options.width = std::max(options.width, 2 * options.heads);
      options.position_width = shapes.between(1, options.width - 1);
    }
    // A LayerNorm of few channels bends too sharply for finite differences.
    if (options.layer_norm && options.d_model() < 4) options.width *= 4;
    const double error = gradient_error(options, shapes);
    EXPECT_LT(error, 1e-7) << choice << " " << options.width << " " << options.heads;
    largest = std::max(largest, error);
    if (!options.has_terms()) continue;
    const double cut = gradient_error(options, shapes, some_terms(choice));
    EXPECT_LT(cut, 1e-7) << choice << " cut, " << options.width << " " << options.heads;
    largest = std::max(largest, cut);
  }
  std::printf("largest relative difference %.2g\n", largest);
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, ModelGradient,
    testing::Values(
        Case{TrainingScheme::none, Table::learned}, Case{TrainingScheme::add, Table::learned},
        Case{TrainingScheme::add, Table::sinusoid}, Case{TrainingScheme::add, Table::frozen},
        Case{TrainingScheme::concat, Table::learned}, Case{TrainingScheme::concat, Table::sinusoid},
        Case{TrainingScheme::concat, Table::frozen}, Case{TrainingScheme::concat_wide, Table::learned},
        Case{TrainingScheme::untied, Table::learned}, Case{TrainingScheme::untied, Table::sinusoid},
        Case{TrainingScheme::rope, Table::learned}, Case{TrainingScheme::alibi, Table::learned},
        Case{TrainingScheme::t5, Table::learned}, Case{TrainingScheme::qk, Table::learned},
        Case{TrainingScheme::qk, Table::frozen}, Case{TrainingScheme::project, Table::learned},
        Case{TrainingScheme::project, Table::sinusoid}, Case{TrainingScheme::project, Table::frozen},
        Case{TrainingScheme::multiply, Table::learned}, Case{TrainingScheme::multiply, Table::sinusoid}),
    [](const auto& info) { return info.param.name(); });

// No two of a model's parameters begin with the same draws.
TEST(Parameters, AreDrawnIndependently) {
  for (const TrainingScheme scheme : kSchemes) {
    ModelOptions options;
    options.scheme = scheme;
    options.layers = 2;
    const ParameterLayout layout(options);
    std::vector<double> values(layout.size());
    initialize(options, layout, 1, values.data());
    for (const Parameter& one : layout.all()) {
      for (const Parameter& other : layout.all()) {
        if (&one >= &other || one.spread == 0 || other.spread == 0) continue;
        const double* const a = values.data() + one.offset;
        const double* const b = values.data() + other.offset;
        int equal = 0;
        for (int k = 0; k < 8; ++k) equal += std::abs(a[k] / one.spread - b[k] / other.spread) < 1e-6;
        EXPECT_EQ(equal, 0) << name_of(scheme) << ' ' << one.name << ' ' << other.name;
      }
    }
  }
}

// Widths of whole vectors and parts of many sequences, for which gradient_error() would take long.
TEST(Model, FloatIsDoubleRounded) {
  Shapes shapes(7);
  for (const TrainingScheme scheme : kSchemes) {
    ModelOptions options;
    options.scheme = scheme;
    options.layers = 2;
    options.causal = shapes.coin();
    Model<double> exact(options);
    Model<float> rounded(options);
    const OwnBatch batch = any_batch(options, 11, 16, shapes);
    std::vector<double> parameters(exact.layout().size()), gradient(parameters.size());
    initialize(options, exact.layout(), 3, parameters.data());
    for (double& parameter : parameters) parameter = static_cast<float>(parameter);
    const std::vector<float> same(parameters.begin(), parameters.end());
    std::vector<float> found(same.size());
    const double loss = exact.loss_and_gradient(parameters.data(), batch.view(), gradient.data());
    EXPECT_NEAR(rounded.loss_and_gradient(same.data(), batch.view(), found.data()), loss, 1e-6 * loss);
    for (const Parameter& parameter : exact.layout().all()) {
      const ConstMatrixMap<double> wanted(gradient.data() + parameter.offset, 1, parameter.size());
      const Matrix<double> difference =
          ConstMatrixMap<float>(found.data() + parameter.offset, 1, parameter.size()).cast<double>() - wanted;
      EXPECT_LT(max_abs(difference), 1e-5 * max_abs(wanted)) << name_of(scheme) << " " << parameter.name;
    }
  }
}

// Constants get what the gauge subtracts from the four terms. A stream without LayerNorm whose parts sum to
// zero over every sequence has the same shares in both gauges. Adding a row to all of P and subtracting it
// from all of E changes no score; it changes raw shares but not canonical ones.
TEST(Model, CanonicalSharesDoNotDependOnWhereTheTablesLie) {
  Shapes shapes(11);
  for (const TrainingScheme scheme :
       {TrainingScheme::add, TrainingScheme::concat, TrainingScheme::concat_wide}) {
    for (const bool causal : {false, true}) {
      ModelOptions options;
      options.scheme = scheme;
      options.causal = causal;
      Model<double> model(options);
      std::vector<double> parameters = any_parameters(model.layout(), shapes);
      const OwnBatch batch = any_batch(options, 5, 13, shapes);
      const auto covariances = [&](TermGauge gauge) {
        std::vector<TermCovariances> heads(options.heads);
        model.term_covariances(parameters.data(), batch.view(), heads.data(), kAllTerms, gauge);
        return heads;
      };
      const std::vector<TermCovariances> raw = covariances(TermGauge::raw);
      const std::vector<TermCovariances> canonical = covariances(TermGauge::canonical);
      if (scheme == TrainingScheme::add) {
        const Parameter &e = *model.layout().find("E"), &p = *model.layout().find("P");
        const Matrix<double> shift = shapes.matrix(1, options.width, 1);
        MatrixMap<double>(parameters.data() + e.offset, e.rows, e.columns).rowwise() -= shift.row(0);
        MatrixMap<double>(parameters.data() + p.offset, p.rows, p.columns).rowwise() += shift.row(0);
      }
      const std::vector<TermCovariances> raw_after = covariances(TermGauge::raw);
      const std::vector<TermCovariances> after = covariances(TermGauge::canonical);
      for (int h = 0; h < options.heads; ++h) {
        EXPECT_NEAR(canonical[h].scores / raw[h].scores, 1, 1e-12);
        EXPECT_NEAR(after[h].scores / raw[h].scores, 1, 1e-11);
        for (int t = 0; t < kTermCount; ++t) {
          EXPECT_NEAR(after[h].terms[t] / raw[h].scores, canonical[h].terms[t] / raw[h].scores, 1e-11);
          const double moved = std::abs(raw_after[h].terms[t] - raw[h].terms[t]) / raw[h].scores;
          EXPECT_EQ(moved > 1e-3, scheme == TrainingScheme::add);
        }
      }
    }
  }
}

// Terms that are cut have no share, and the others sum to one.
TEST(Model, TermsThatAreCutHaveNoShare) {
  Shapes shapes(12);
  for (const TrainingScheme scheme : {TrainingScheme::add, TrainingScheme::concat, TrainingScheme::untied}) {
    ModelOptions options;
    options.scheme = scheme;
    Model<double> model(options);
    const std::vector<double> parameters = any_parameters(model.layout(), shapes);
    const OwnBatch batch = any_batch(options, 3, 13, shapes);
    std::vector<TermCovariances> heads(options.heads);
    for (int choice = 0; choice < 16; ++choice) {
      const Terms kept = some_terms(choice);
      const bool any =
          scheme == TrainingScheme::untied ? kept[token_token] || kept[position_position] : kept != Terms{};
      model.term_covariances(parameters.data(), batch.view(), heads.data(), kept);
      for (const TermCovariances& head : heads) {
        EXPECT_EQ(head.scores > 0, any);
        double sum = 0;
        for (int t = 0; t < kTermCount; ++t) {
          EXPECT_TRUE(kept[t] || head.terms[t] == 0);
          sum += head.terms[t];
        }
        EXPECT_NEAR(sum, head.scores, 1e-12 * head.scores);
      }
    }
  }
}

// A batch's answers are those of each sequence alone, however it is split into parts.
TEST(Model, SequencesDoNotMeet) {
  Shapes shapes(10);
  ModelOptions options;
  Model<double> model(options);
  const std::vector<double> parameters = any_parameters(model.layout(), shapes);
  const OwnBatch batch = any_batch(options, 9, 14, shapes);
  Matrix<double> all(9 * 14, options.classes), one(14, options.classes);
  model.logits(parameters.data(), batch.view(), all.data());
  for (int s = 0; s < 9; ++s) {
    model.logits(parameters.data(), {1, 14, batch.tokens.data() + s * 14, nullptr}, one.data());
    EXPECT_LT(max_abs(one - all.middleRows(s * 14, 14)), 1e-13);
  }
}

}  // namespace
}  // namespace superpose
