#include "training/fusion.h"

#include <gtest/gtest.h>

#include "training_models.h"

namespace superpose {
namespace {

constexpr int kN = 7;

struct Made {
  ModelOptions options;
  Model<double> model;
  std::vector<double> parameters;

  explicit Made(TrainingScheme scheme, int layers = 1)
      : options(of(scheme, layers)), model(options), parameters(model.layout().size()) {
    initialize(options, model.layout(), 5, parameters.data());
  }
  MatrixMap<double> at(const char* name) {
    const Parameter& found = *model.layout().find(name);
    return MatrixMap<double>(parameters.data() + found.offset, found.rows, found.columns);
  }
  Matrix<double> logits(const OwnBatch& batch) {
    Matrix<double> out(batch.sequences * batch.n, options.classes);
    model.logits(parameters.data(), batch.view(), out.data());
    return out;
  }
  // The rows of all tokens of a batch.
  Matrix<double> rows(const OwnBatch& batch) {
    Fusion<double> fusion(options, model.layout());
    fusion.prepare(parameters.data(), batch.n);
    Matrix<double> out(batch.tokens.size(), options.d_model());
    fusion.rows(batch.tokens.data(), out.rows(), batch.n, out.data());
    return out;
  }

  static ModelOptions of(TrainingScheme scheme, int layers) {
    ModelOptions options;
    options.scheme = scheme;
    options.width = 12;
    options.position_width = 5;
    options.layers = layers;
    options.vocabulary = 9;
    options.rows = kN;
    return options;
  }
};

struct WithAdd {
  Shapes shapes{17};
  Made add{TrainingScheme::add};
  OwnBatch batch = any_batch(add.options, 4, kN, shapes);
};

// What two models share begins with equal numbers, so all else follows from the fusion.
TEST(Fusion, ProjectedByTwoIdentitiesIsAdded) {
  WithAdd with;
  Made project(TrainingScheme::project);
  EXPECT_GT(max_abs(project.logits(with.batch) - with.add.logits(with.batch)), 1e-3);
  project.at("W_f").topRows(12).setIdentity();
  project.at("W_f").bottomRows(12).setIdentity();
  EXPECT_LT(max_abs(project.logits(with.batch) - with.add.logits(with.batch)), 1e-13);
}

// W [x; p] = A x + B p.
TEST(Fusion, ProjectingIsAddingWithTwoMaps) {
  WithAdd with;
  Made project(TrainingScheme::project);
  with.add.at("E") = (project.at("E") * project.at("W_f").topRows(12)).eval();
  with.add.at("P") = (project.at("P") * project.at("W_f").bottomRows(12)).eval();
  EXPECT_LT(max_abs(project.logits(with.batch) - with.add.logits(with.batch)), 1e-13);
}

// What queries and keys read decides where attention goes.
TEST(Fusion, QueriesAndKeysAlone) {
  WithAdd with;
  const auto attention = [&](TrainingScheme scheme) {
    Made made(scheme);
    Matrix<double> out(4 * 2 * kN, kN);
    made.model.attention(made.parameters.data(), with.batch.view(), 0, out.data());
    return out;
  };
  const Matrix<double> added = attention(TrainingScheme::add), none = attention(TrainingScheme::none);
  EXPECT_GT(max_abs(added - none), 1e-3);
  EXPECT_LT(max_abs(attention(TrainingScheme::qk) - added), 1e-15);
  // Without positions all of them are the same model.
  Made without(TrainingScheme::none);
  for (const TrainingScheme scheme : {TrainingScheme::add, TrainingScheme::qk, TrainingScheme::multiply}) {
    Made made(scheme, 2), wanted(TrainingScheme::none, 2);
    made.at("P").setZero();
    EXPECT_LT(max_abs(made.logits(with.batch) - wanted.logits(with.batch)), 1e-14) << name_of(scheme);
  }
}

// Token rows times the root of their width are larger token rows.
TEST(Fusion, ScaledTokensAreLargerTokens) {
  WithAdd with;
  for (const TrainingScheme scheme : kSchemes) {
    Made plain(scheme), larger(scheme);
    plain.at("E") *= std::sqrt(plain.at("E").cols());
    ModelOptions options = larger.options;
    options.scale_tokens = true;
    Model<double> scaled(options);
    Matrix<double> out(4 * kN, options.classes);
    scaled.logits(larger.parameters.data(), with.batch.view(), out.data());
    EXPECT_LT(max_abs(out - plain.logits(with.batch)), 1e-13) << name_of(scheme);
  }
}

// For lookup at the recommended size, in the order of their names.
TEST(Fusion, NumbersToLearn) {
  const auto learned = [](TrainingScheme scheme) {
    ModelOptions options;
    options.scheme = scheme;
    Eigen::Index sum = 0;
    const ParameterLayout layout(options);
    for (const Parameter& parameter : layout.all()) sum += parameter.size();
    return sum;
  };
  using enum TrainingScheme;
  for (const TrainingScheme scheme : {add, qk, multiply}) EXPECT_EQ(learned(scheme), 5696) << name_of(scheme);
  EXPECT_EQ(learned(project), 5696 + 2048);
}

}  // namespace
}  // namespace superpose
