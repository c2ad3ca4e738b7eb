// What a trainer begins with, against tests/reference/training.json, which was written from the model's description. Its
// steps are compared in tests/api/training/trainer.test.ts.
#include <gtest/gtest.h>

#include <algorithm>
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

Matrix<double> table_of(const Value& from) {
  if (from[0].IsArray()) return matrix_of(from);
  Matrix<double> row(1, from.Size());
  for (rapidjson::SizeType c = 0; c < from.Size(); ++c) row(0, c) = from[c].GetDouble();
  return row;
}

// The spreads that parameters are drawn with, and the parameters that are not drawn.
TEST(TrainingReference, Beginnings) {
  const rapidjson::Document file = reference("training.json");
  ASSERT_TRUE(file.IsObject());
  for (const Value& each : file["cases"].GetArray()) {
    const ModelOptions options = model_of(each);
    Parameters parameters = initial(options, 1);
    for (const Named& parameter : named(options, parameters)) {
      const Matrix<float>& values = *parameter.values;
      const std::string what = std::string(each["name"].GetString()) + ", " + parameter.name;
      if (!parameter.decays) {
        EXPECT_TRUE((values.array() == 1).all()) << what;
      } else if (parameter.name == "P" && options.table == Table::sinusoid) {
        EXPECT_LT(max_abs(values.cast<double>() - table_of(each["parameters"]["P"])), 1e-7) << what;
      } else {
        const double spread = each["initial_spread"][parameter.name.c_str()].GetDouble();
        EXPECT_NEAR(parameter.spread, spread, 1e-10) << what;
        const int rows = static_cast<int>(values.rows()), columns = static_cast<int>(values.cols());
        EXPECT_EQ(values, random_normal<float>(rows, columns, parameter.spread, 1, parameter.stream)) << what;
      }
    }
  }
}

}  // namespace
}  // namespace superpose
