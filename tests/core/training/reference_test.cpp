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

// The file has twelve digits; the rest is rounding.
void near(const Matrix<double>& found, const Matrix<double>& wanted, const std::string& what) {
  EXPECT_EQ(found.rows(), wanted.rows()) << what;
  EXPECT_EQ(found.cols(), wanted.cols()) << what;
  EXPECT_LT(max_abs(found - wanted), 1e-10 * std::max(max_abs(wanted), 1e-3)) << what;
}

// The spreads that parameters are drawn with, and the parameters that are not drawn.
TEST(TrainingReference, Beginnings) {
  const rapidjson::Document file = reference("training.json");
  ASSERT_TRUE(file.IsObject());
  for (const Value& each : file["cases"].GetArray()) {
    const std::string name = each["name"].GetString();
    const ModelOptions options = model_of(each);
    Trainer<double> trainer(options, {}, 1);
    for (const Parameter& parameter : trainer.layout().all()) {
      const Matrix<double> values =
          ConstMatrixMap<double>(trainer.parameters() + parameter.offset, parameter.rows, parameter.columns);
      const std::string what = name + ", " + parameter.name;
      if (!parameter.decays) {
        EXPECT_EQ(values, Matrix<double>(Matrix<double>::Ones(1, options.d_model())));
      } else if (parameter.name == "P" && options.table == Table::sinusoid) {
        near(values, table_of(each["parameters"]["P"]), what);
      } else {
        const double spread = each["initial_spread"][parameter.name.c_str()].GetDouble();
        EXPECT_NEAR(parameter.spread, spread, 1e-10 * std::max(spread, 1e-3)) << what;
        const Matrix<double> draws =
            random_normal<double>(parameter.rows, parameter.columns, parameter.spread, 1, parameter.stream);
        EXPECT_EQ(values, draws);
      }
    }
  }
}

}  // namespace
}  // namespace superpose
