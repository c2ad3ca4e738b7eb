// The trainer against tests/reference/training.json, which was written from the model's description.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "reference.h"
#include "training/asked_terms.h"
#include "training/measures.h"
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
  options.mlp = !from["d_ff"].IsNull();
  options.causal = from["causal"].GetBool();
  options.zero_scores = from["zero_scores"].GetBool();
  options.sigma_tokens = from["sigma"].GetDouble();
  options.sigma_positions = from["sigma_positions"].GetDouble();
  options.scale_tokens = from["scale_tokens"].GetBool();
  options.tied = from["tied"].GetBool();
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
    if (wanted.IsNull())
      EXPECT_TRUE(std::isnan(found)) << what;
    else
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

TEST_F(TrainingReference, LogitsLossAndGradients) {
  for (const Value& each : file["cases"].GetArray()) {
    const std::string name = each["name"].GetString();
    const ModelOptions options = model_of(each);
    Trainer<double> trainer(options, optimizer_of(each["optimizer"]), 1);
    set_parameters(trainer, each["parameters"]);
    const OwnBatch batch = batch_of(each["tokens"][0], each["targets"][0]);

    Matrix<double> logits(batch.sequences * batch.n, options.classes);
    trainer.model().logits(trainer.parameters(), batch.view(), logits.data());
    for (int s = 0; s < batch.sequences; ++s)
      near(logits.middleRows(s * batch.n, batch.n), matrix_of(each["logits"][s]), name + ", logits");

    std::vector<double> gradient(trainer.layout().size());
    const double loss =
        trainer.model().loss_and_gradient(trainer.parameters(), batch.view(), gradient.data());
    near(loss, each["loss"], name + ", loss");
    for (const Parameter& parameter : trainer.layout().all()) {
      const bool trained = each["gradients"].HasMember(parameter.name.c_str());
      EXPECT_EQ(parameter.trained, trained) << name << ", " << parameter.name;
      if (!trained)
        EXPECT_EQ(max_abs(get(parameter, gradient.data())), 0) << name << ", " << parameter.name;
      else
        near(get(parameter, gradient.data()), table_of(each["gradients"][parameter.name.c_str()]),
             name + ", " + parameter.name);
    }
  }
  std::printf("largest relative difference %.2g\n", largest);
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

TEST_F(TrainingReference, Measures) {
  for (const Value& each : file["cases"].GetArray()) {
    const std::string name = each["name"].GetString();
    const ModelOptions options = model_of(each);
    Trainer<double> trainer(options, optimizer_of(each["optimizer"]), 1);
    set_parameters(trainer, each["parameters"]);
    const Value& wanted = each["evaluation"];
    const OwnBatch batch = batch_of(wanted["tokens"], wanted["targets"]);
    near(trainer.evaluate(batch.view()).accuracy(), wanted["accuracy"], name + ", accuracy");

    const TrainedShares shares = trained_shares(trainer.model(), trainer.parameters(), batch.view());
    EXPECT_EQ(wanted["shares"].IsNull(), !options.has_terms()) << name;
    if (options.has_terms()) {
      near(shares.by_head, matrix_of(wanted["shares_by_head"]), name + ", shares by head");
      for (int t = 0; t < kTermCount; ++t) {
        near(shares.mean[t], wanted["shares"][t], name + ", shares");
        Terms cut = kAllTerms, only{};
        cut[t] = false;
        only[t] = true;
        const Evaluation of_cut = trainer.evaluate(batch.view(), cut);
        const Evaluation of_only = trainer.evaluate(batch.view(), only);
        near(of_cut.loss, wanted["loss_cut"][t], name + ", loss cut");
        near(of_cut.accuracy(), wanted["accuracy_cut"][t], name + ", accuracy cut");
        near(of_only.loss, wanted["loss_only"][t], name + ", loss only");
        near(of_only.accuracy(), wanted["accuracy_only"][t], name + ", accuracy only");
      }
    }
    if (!wanted["fusion"].IsNull()) {
      const FusionParts parts = fusion_parts(trainer.model(), trainer.parameters(), batch.view());
      near(parts.of_tokens, wanted["fusion"][0], name + ", tokens");
      near(parts.of_positions, wanted["fusion"][1], name + ", positions");
      EXPECT_NEAR(parts.of_both, wanted["fusion"][2].GetDouble(), 1e-12) << name << ", both";
      const Evaluation without =
          evaluate_parted(trainer.model(), trainer.parameters(), batch.view(), kAllTerms, false);
      const bool sum = wanted["loss_without"].IsNull();
      // Nothing is left out of a sum.
      if (sum)
        EXPECT_EQ(without.loss, trainer.evaluate(batch.view()).loss) << name;
      else
        near(without.loss, wanted["loss_without"], name + ", loss without");
      near(without.accuracy(), sum ? wanted["accuracy"] : wanted["accuracy_without"], name + ", without");
    }
    if (const Value& parted = wanted["parted"]; !parted.IsNull()) {
      const auto shares_in = [&](TermGauge gauge) {
        return trained_shares(trainer.model(), trainer.parameters(), batch.view(), kAllTerms, gauge).by_head;
      };
      near(shares_in(TermGauge::raw), matrix_of(parted["shares"]), name + ", parted");
      near(shares_in(TermGauge::canonical), matrix_of(parted["canonical"]), name + ", parted, canonical");
      for (int t = 0; t < kTermCount; ++t) {
        Terms cut = kAllTerms, only{};
        cut[t] = false;
        only[t] = true;
        const auto loss = [&](const Terms& kept, bool rest) {
          return evaluate_parted(trainer.model(), trainer.parameters(), batch.view(), kept, rest).loss;
        };
        near(loss(cut, true), parted["loss_cut"][t], name + ", parted, cut");
        near(loss(only, false), parted["loss_only"][t], name + ", parted, only");
      }
    }
    if (const Value& asked = wanted["asked"]; !asked.IsNull()) {
      const Matrix<double> found = asked_shares(trainer.model(), trainer.parameters(), batch.view());
      const Matrix<double> shares = matrix_of(asked["shares"]);
      for (int t = 0; t < 6; ++t) {
        near(Matrix<double>(found.col(t)), shares.col(t), name + ", asked");
        AskedTerms cut, only{};
        cut.fill(true);
        cut[t] = false;
        only[t] = true;
        const auto loss = [&](const AskedTerms& kept) {
          return evaluate_asked(trainer.model(), trainer.parameters(), batch.view(), kept).loss;
        };
        near(loss(cut), asked["loss_cut"][t], name + ", asked, cut");
        near(loss(only), asked["loss_only"][t], name + ", asked, only");
      }
    }
    const RowOverlap apart = row_overlap(options, trainer.layout(), trainer.parameters(), batch.n);
    near(apart.overlap, wanted["overlap"], name + ", overlap");
    near(apart.chance_band, wanted["chance_band"], name + ", chance");
    near(apart.chance_exact, wanted["chance_band_exact"], name + ", chance exact");
    const RowAngles angles = row_angles(options, trainer.layout(), trainer.parameters(), batch.n);
    near(angles.smallest, wanted["smallest_angle"], name + ", angle");
    near(angles.smallest_leading, wanted["smallest_angle_leading_two"], name + ", leading angle");
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

TEST_F(TrainingReference, Tasks) {
  constexpr const char* kNames[] = {"badge", "lookup", "roll", "prev",  "rev", "back",
                                    "mix",   "where",  "jump", "throw", "last"};
  for (const Value& each : file["tasks"].GetArray()) {
    TaskOptions task;
    task.task = static_cast<Task>(
        std::find(std::begin(kNames), std::end(kNames), std::string(each["task"].GetString())) - kNames);
    task.n = each["n"].GetInt();
    if (task.task == Task::back) task.back = each["back"].GetInt();
    EXPECT_EQ(task.vocabulary(), each["vocabulary"].GetInt()) << each["task"].GetString();
    EXPECT_EQ(task.classes(), each["classes"].GetInt()) << each["task"].GetString();
    const OwnBatch batch = batch_of(each["tokens"], each["targets"]);
    std::vector<int> targets(batch.tokens.size());
    for (int s = 0; s < batch.sequences; ++s)
      find_targets(task, batch.tokens.data() + s * task.n, targets.data() + s * task.n);
    EXPECT_EQ(targets, batch.targets) << each["task"].GetString();
  }
}

}  // namespace
}  // namespace superpose
