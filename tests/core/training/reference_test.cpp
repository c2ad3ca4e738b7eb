// The trainer against tests/reference/training.json, which was written from the model's description.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "reference.h"
#include "training/trainer.h"
#include "training_models.h"

namespace superpose {
namespace {

using rapidjson::Value;

ModelOptions model_of(const Value& from) {
  ModelOptions options;
  const std::string scheme = from["scheme"].GetString();
  for (const TrainingScheme each : kSchemes) {
    if (name_of(each) == scheme) options.scheme = each;
  }
  const std::string table = from["table"].IsNull() ? "learned" : from["table"].GetString();
  options.table = table == "learned" ? Table::learned : table == "sinusoid" ? Table::sinusoid : Table::frozen;
  options.vocabulary = from["vocabulary"].GetInt();
  options.classes = from["classes"].GetInt();
  options.rows = from["rows"].GetInt();
  options.width = from["d_model"].GetInt() / (options.scheme == TrainingScheme::concat_wide ? 2 : 1);
  if (options.scheme == TrainingScheme::concat) options.position_width = from["d_position"].GetInt();
  options.heads = from["heads"].GetInt();
  options.layers = from["layers"].GetInt();
  options.layer_norm = from["layer_norm"].GetBool();
  options.causal = from["causal"].GetBool();
  options.zero_scores = from["zero_scores"].GetBool();
  options.sigma_tokens = from["sigma"].GetDouble();
  options.sigma_positions = from["sigma_positions"].GetDouble();
  options.scale_tokens = from["scale_tokens"].GetBool();
  for (const Value& name : from["fixed"].GetArray()) {
    options.fixed_tokens = options.fixed_tokens || !std::strcmp(name.GetString(), "E");
    options.fixed_positions = options.fixed_positions || !std::strcmp(name.GetString(), "P");
  }
  return options;
}

OptimizerOptions optimizer_of(const Value& from) {
  OptimizerOptions options;
  options.learning_rate = from["lr"].GetDouble();
  options.weight_decay = from["weight_decay"].GetDouble();
  options.warm_up = from["warm"].GetInt();
  options.steps = from["steps"].GetInt();
  options.beta1 = from["beta1"].GetDouble();
  options.beta2 = from["beta2"].GetDouble();
  options.epsilon = from["eps"].GetDouble();
  options.clip = from["clip"].GetDouble();
  return options;
}

Matrix<double> table_of(const Value& from) {
  if (from[0].IsArray()) return matrix_of(from);
  Matrix<double> row(1, from.Size());
  for (rapidjson::SizeType c = 0; c < from.Size(); ++c) row(0, c) = from[c].GetDouble();
  return row;
}

OwnBatch batch_of(const Value& tokens, const Value& targets) {
  OwnBatch batch{static_cast<int>(tokens.Size()), static_cast<int>(tokens[0].Size()), {}, {}};
  for (const Value& row : tokens.GetArray()) {
    for (const Value& id : row.GetArray()) batch.tokens.push_back(id.GetInt());
  }
  for (const Value& row : targets.GetArray()) {
    for (const Value& id : row.GetArray()) batch.targets.push_back(id.GetInt());
  }
  return batch;
}

double relative(const Matrix<double>& found, const Matrix<double>& wanted) {
  EXPECT_EQ(found.rows(), wanted.rows());
  EXPECT_EQ(found.cols(), wanted.cols());
  return max_abs(found - wanted) / std::max(max_abs(wanted), 1e-3);
}

// The file has twelve digits; the rest is rounding.
constexpr double kTolerance = 1e-10;

class TrainingReference : public testing::Test {
 protected:
  void SetUp() override {
    file = reference("training.json");
    ASSERT_TRUE(file.IsObject());
  }
  void TearDown() override { RecordProperty("largest_difference", std::to_string(largest)); }

  void near(const Matrix<double>& found, const Matrix<double>& wanted, const std::string& what) {
    const double difference = relative(found, wanted);
    largest = std::max(largest, difference);
    EXPECT_LT(difference, kTolerance) << what;
  }
  void near(double found, const Value& wanted, const std::string& what) {
    near(Matrix<double>::Constant(1, 1, found), Matrix<double>::Constant(1, 1, wanted.GetDouble()), what);
  }

  rapidjson::Document file;
  double largest = 0;
};

void set_parameters(Trainer<double>& trainer, const Value& from) {
  ASSERT_EQ(from.MemberCount(), trainer.layout().all().size());
  for (const Parameter& parameter : trainer.layout().all()) {
    ASSERT_TRUE(from.HasMember(parameter.name.c_str())) << parameter.name;
    MatrixMap<double>(trainer.parameters() + parameter.offset, parameter.rows, parameter.columns) =
        table_of(from[parameter.name.c_str()]);
  }
}

Matrix<double> get(const Parameter& parameter, const double* list) {
  return ConstMatrixMap<double>(list + parameter.offset, parameter.rows, parameter.columns);
}

TEST_F(TrainingReference, FiveSteps) {
  for (const Value& each : file["cases"].GetArray()) {
    const std::string name = each["name"].GetString();
    const OptimizerOptions optimizer = optimizer_of(each["optimizer"]);
    Trainer<double> trainer(model_of(each), optimizer, 1);
    set_parameters(trainer, each["parameters"]);
    const Value& steps = each["steps"];
    for (rapidjson::SizeType s = 0; s < each["tokens"].Size(); ++s) {
      const OwnBatch batch = batch_of(each["tokens"][s], each["targets"][s]);
      near(trainer.step(batch.view()), steps["loss"][s], name + ", loss");
      near(trainer.gradient_norm(), steps["gradient_norm"][s], name + ", norm");
      near(learning_rate(optimizer, s + 1), steps["learning_rate"][s], name + ", rate");
    }
    for (const Parameter& parameter : trainer.layout().all()) {
      if (!parameter.trained) continue;
      near(get(parameter, trainer.parameters()), table_of(steps["parameters"][parameter.name.c_str()]),
           name + ", " + parameter.name);
    }
  }
  std::printf("largest relative difference %.2g\n", largest);
}

// The spreads that parameters are drawn with, and the parameters that are not drawn.
TEST_F(TrainingReference, Beginnings) {
  for (const Value& each : file["cases"].GetArray()) {
    const std::string name = each["name"].GetString();
    const ModelOptions options = model_of(each);
    Trainer<double> trainer(options, {}, 1);
    for (const Parameter& parameter : trainer.layout().all()) {
      const Matrix<double> values = get(parameter, trainer.parameters());
      if (!parameter.decays) {
        EXPECT_EQ(values, Matrix<double>(Matrix<double>::Ones(1, options.d_model())));
      } else if (parameter.name == "P" && options.table == Table::sinusoid) {
        near(values, table_of(each["parameters"]["P"]), name + ", P");
      } else {
        near(parameter.spread, each["initial_spread"][parameter.name.c_str()], name + ", " + parameter.name);
        const Matrix<double> draws =
            random_normal<double>(parameter.rows, parameter.columns, parameter.spread, 1, parameter.stream);
        EXPECT_EQ(values, draws);
      }
    }
  }
}

}  // namespace
}  // namespace superpose
