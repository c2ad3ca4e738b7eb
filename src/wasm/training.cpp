// A model in training that stays in the module's memory, with its examples for training and for measuring.
#include <memory>
#include <optional>

#include "convert.h"
#include "training/measures.h"
#include "training/trainer.h"

namespace superpose {
namespace {

// A batch that owns its ids.
struct HeldBatch {
  int n = 0;
  std::vector<int> tokens, targets;

  Batch view() const { return {static_cast<int>(tokens.size()) / n, n, tokens.data(), targets.data()}; }
};

// What each scheme is, by its place in TrainingScheme.
Typed<"SchemeFacts[]"> training_schemes_out() {
  Value all = Value::array();
  for (std::size_t at = 0; at < kTrainingSchemeNames.size(); ++at) {
    ModelOptions of;
    of.scheme = static_cast<TrainingScheme>(at);
    Value scheme = Value::object();
    scheme.set("id", std::string(kTrainingSchemeNames[at]));
    scheme.set("inStream", of.in_stream());
    scheme.set("sums", of.sums());
    scheme.set("hasTerms", of.has_terms());
    scheme.set("hasTable", of.has_table());
    scheme.set("width", of.d_model() / of.width);
    all.push(scheme);
  }
  return all;
}

HeldBatch batch_in(const Value& batch) {
  return {batch["n"].as<int>(), integers_in(batch["tokens"]), integers_in(batch["targets"])};
}

Value batch_out(const Batch& batch) {
  const std::size_t count = static_cast<std::size_t>(batch.sequences) * batch.n;
  Value result = Value::object();
  result.set("n", batch.n);
  result.set("tokens", copy_out(batch.tokens, count));
  result.set("targets", copy_out(batch.targets, count));
  return result;
}

TaskOptions task_in(const Value& options) {
  return {static_cast<Task>(options["task"].as<int>()), options["n"].as<int>()};
}

ModelOptions model_in(const Value& from) {
  ModelOptions options;
  options.vocabulary = from["vocabulary"].as<int>();
  options.classes = from["classes"].as<int>();
  options.rows = from["positions"].as<int>();
  options.scheme = static_cast<TrainingScheme>(from["scheme"].as<int>());
  options.table = static_cast<Table>(from["table"].as<int>());
  options.width = from["d_model"].as<int>();
  options.position_width = from["d_position"].as<int>();
  options.heads = from["heads"].as<int>();
  options.layers = from["layers"].as<int>();
  options.layer_norm = from["layerNorm"].as<bool>();
  options.causal = from["causal"].as<bool>();
  options.zero_scores = from["zeroScores"].as<bool>();
  options.fixed_tokens = from["fixedTokens"].as<bool>();
  options.fixed_positions = from["fixedPositions"].as<bool>();
  options.scale_tokens = from["scaleTokens"].as<bool>();
  options.sigma_tokens = from["sigmaTokens"].as<double>();
  options.sigma_positions = from["sigmaPositions"].as<double>();
  return options;
}

OptimizerOptions optimizer_in(const Value& from) {
  OptimizerOptions options;
  options.learning_rate = from["learningRate"].as<double>();
  options.weight_decay = from["weightDecay"].as<double>();
  options.warm_up = from["warmUp"].as<int>();
  options.steps = from["steps"].as<int>();
  options.beta1 = from["beta1"].as<double>();
  options.beta2 = from["beta2"].as<double>();
  options.epsilon = from["epsilon"].as<double>();
  options.clip = from["clip"].as<double>();
  return options;
}

// A trainer in either precision, with one interface for the bindings.
class Training {
 public:
  virtual ~Training() = default;

  virtual double step(const Batch& batch) = 0;
  virtual bool diverged() const = 0;
  virtual void keep(const Terms& terms) = 0;
  virtual Evaluation evaluate(const Batch& batch, const Terms& kept) = 0;
  virtual Value logits(const Batch& batch) = 0;
  virtual Value attention(const Batch& batch, int layer) = 0;
  virtual TrainedShares shares(const Batch& batch, TermGauge gauge) = 0;
  virtual Loudness loudness(int n) = 0;
  virtual RowOverlap overlap(int n) = 0;
  virtual RowAngles angles(int n) = 0;
  virtual Matrix<double> directions(int n) = 0;
  virtual RowCoordinates coordinates(int n, const Matrix<double>& directions) = 0;
  virtual Value parameters() = 0;
  virtual void set_parameter(const std::string& name, const Value& values) = 0;

  std::optional<Examples> examples;
  HeldBatch evaluation;
};

template <typename Scalar>
class TrainingIn final : public Training {
 public:
  TrainingIn(const ModelOptions& model, const OptimizerOptions& optimizer, std::uint32_t seed)
      : trainer_(model, optimizer, seed) {}

  double step(const Batch& batch) override { return trainer_.step(batch); }
  bool diverged() const override { return trainer_.diverged(); }
  void keep(const Terms& terms) override { trainer_.keep(terms); }
  Evaluation evaluate(const Batch& batch, const Terms& kept) override {
    return trainer_.evaluate(batch, kept);
  }
  Value logits(const Batch& batch) override {
    Matrix<Scalar> out(batch.sequences * batch.n, trainer_.options().classes);
    trainer_.model().logits(trainer_.parameters(), batch, out.data(), trainer_.kept());
    return copy_out(out);
  }
  Value attention(const Batch& batch, int layer) override {
    Matrix<Scalar> out(batch.sequences * trainer_.options().heads * batch.n, batch.n);
    trainer_.model().attention(trainer_.parameters(), batch, layer, out.data(), trainer_.kept());
    return copy_out(out);
  }
  TrainedShares shares(const Batch& batch, TermGauge gauge) override {
    return trained_shares(trainer_.model(), trainer_.parameters(), batch, trainer_.kept(), gauge);
  }
  Loudness loudness(int n) override {
    return row_loudness(trainer_.options(), trainer_.layout(), trainer_.parameters(), n);
  }
  RowOverlap overlap(int n) override {
    return row_overlap(trainer_.options(), trainer_.layout(), trainer_.parameters(), n);
  }
  RowAngles angles(int n) override {
    return row_angles(trainer_.options(), trainer_.layout(), trainer_.parameters(), n);
  }
  Matrix<double> directions(int n) override {
    return row_directions(trainer_.options(), trainer_.layout(), trainer_.parameters(), n);
  }
  RowCoordinates coordinates(int n, const Matrix<double>& directions) override {
    return row_coordinates(trainer_.options(), trainer_.layout(), trainer_.parameters(), n, directions);
  }
  Value parameters() override {
    Value list = Value::array();
    for (const Parameter& parameter : trainer_.layout().all()) {
      Value out = Value::object();
      out.set("name", parameter.name);
      out.set("rows", parameter.rows);
      out.set("columns", parameter.columns);
      out.set("data", copy_out(trainer_.parameters() + parameter.offset, parameter.size()));
      list.push(out);
    }
    return list;
  }
  void set_parameter(const std::string& name, const Value& values) override {
    const Parameter& parameter = *trainer_.layout().find(name);
    copy_in(values, trainer_.parameters() + parameter.offset, parameter.size());
  }

 private:
  Trainer<Scalar> trainer_;
};

using Held = std::unique_ptr<Training>;

Training& training_at(std::uint32_t address) { return *at_address<Held>(address); }

// A trainer on the task's examples or, given a batch for measuring, on the batch given with each step.
std::uint32_t trainer_out(const Typed<"TrainerOptions">& options) {
  const ModelOptions model = model_in(options);
  const OptimizerOptions optimizer = optimizer_in(options);
  const std::uint32_t seed = options["seed"].as<std::uint32_t>();
  Held training;
  if (options["single"].as<bool>())
    training = std::make_unique<TrainingIn<float>>(model, optimizer, seed);
  else
    training = std::make_unique<TrainingIn<double>>(model, optimizer, seed);
  if (options["evaluation"].isUndefined()) {
    const TaskOptions task = task_in(options);
    training->examples.emplace(task, options["sequences"].as<int>(), seed, Examples::training);
    Examples examples(task, options["evaluationSequences"].as<int>(), seed, Examples::evaluation);
    const Batch drawn = examples.next();
    const std::size_t count = static_cast<std::size_t>(drawn.sequences) * drawn.n;
    training->evaluation = {
        drawn.n, {drawn.tokens, drawn.tokens + count}, {drawn.targets, drawn.targets + count}};
  } else {
    training->evaluation = batch_in(options["evaluation"]);
  }
  return address_of(new Held(std::move(training)));
}

void delete_trainer_out(std::uint32_t trainer) { delete &at_address<Held>(trainer); }

// The losses of up to `count` steps. There are fewer when the run diverges; the last is then that of the
// diverging step.
Typed<"Float64Array"> trainer_steps_out(std::uint32_t trainer, int count) {
  Training& training = training_at(trainer);
  std::vector<double> losses;
  losses.reserve(count);
  for (int s = 0; s < count && !training.diverged(); ++s)
    losses.push_back(training.step(training.examples->next()));
  return copy_out(losses.data(), losses.size());
}

double trainer_step_out(std::uint32_t trainer, const Typed<"Batch">& batch) {
  return training_at(trainer).step(batch_in(batch).view());
}

bool trainer_diverged_out(std::uint32_t trainer) { return training_at(trainer).diverged(); }

// Bit t is 1 where term t is kept.
Terms terms_in(int bits) {
  Terms terms;
  for (int t = 0; t < kTermCount; ++t) terms[t] = bits >> t & 1;
  return terms;
}

void trainer_keeps_out(std::uint32_t trainer, int bits) { training_at(trainer).keep(terms_in(bits)); }

Value evaluation_out(const Evaluation& found) {
  Value result = Value::object();
  result.set("loss", found.loss);
  result.set("accuracy", found.accuracy());
  result.set("targets", found.targets);
  return result;
}

// For a given batch, or the one the trainer measures on.
Typed<"TrainingEvaluation"> evaluate_trainer_out(std::uint32_t trainer, int bits,
                                                 const Typed<"Batch | undefined">& batch) {
  Training& training = training_at(trainer);
  const Terms kept = terms_in(bits);
  return evaluation_out(batch.isUndefined() ? training.evaluate(training.evaluation.view(), kept)
                                            : training.evaluate(batch_in(batch).view(), kept));
}

Value loudness_out(const Loudness& found) {
  Value result = Value::object();
  result.set("tokens", found.tokens);
  result.set("positions", found.positions);
  return result;
}

Typed<"{ tokens: number; positions: number }"> trainer_loudness_out(std::uint32_t trainer) {
  Training& training = training_at(trainer);
  return loudness_out(training.loudness(training.evaluation.n));
}

Typed<"LoudnessRecipe[]"> recipes_out(int d_model) {
  Value list = Value::array();
  for (const Recipe& recipe : recipes(d_model)) {
    Value options = Value::object();
    options.set("d_model", d_model);
    options.set("table", std::string(recipe.table == Table::sinusoid ? "sinusoid" : "learned"));
    options.set("sigmaTokens", recipe.sigma_tokens);
    options.set("sigmaPositions", recipe.sigma_positions);
    options.set("scaleTokens", recipe.scale_tokens);
    const Loudness begins = loudness(recipe, d_model);
    Value out = loudness_out(begins);
    out.set("positionScale", position_scale(begins));
    out.set("name", std::string(recipe.name));
    out.set("options", options);
    list.push(out);
  }
  return list;
}

Typed<"Floats"> trainer_logits_out(std::uint32_t trainer, const Typed<"Batch">& batch) {
  return training_at(trainer).logits(batch_in(batch).view());
}

Typed<"Floats"> trainer_attention_out(std::uint32_t trainer, const Typed<"Batch">& batch, int layer) {
  return training_at(trainer).attention(batch_in(batch).view(), layer);
}

Typed<"{ mean: Float64Array; byHead: Float64Array }"> trainer_shares_out(std::uint32_t trainer,
                                                                         bool canonical) {
  Training& training = training_at(trainer);
  const TrainedShares found =
      training.shares(training.evaluation.view(), canonical ? TermGauge::canonical : TermGauge::raw);
  Value result = Value::object();
  result.set("mean", copy_out(found.mean.data(), found.mean.size()));
  result.set("byHead", copy_out(found.by_head));
  return result;
}

Typed<"{ overlap: number; chanceBand: number; chanceExact: number }"> trainer_overlap_out(
    std::uint32_t trainer) {
  Training& training = training_at(trainer);
  const RowOverlap found = training.overlap(training.evaluation.n);
  Value result = Value::object();
  result.set("overlap", found.overlap);
  result.set("chanceBand", found.chance_band);
  result.set("chanceExact", found.chance_exact);
  return result;
}

Typed<"{ smallest: number; smallestLeading: number }"> trainer_angles_out(std::uint32_t trainer) {
  Training& training = training_at(trainer);
  const RowAngles found = training.angles(training.evaluation.n);
  Value result = Value::object();
  result.set("smallest", found.smallest);
  result.set("smallestLeading", found.smallest_leading);
  return result;
}

Typed<"Float64Array"> trainer_directions_out(std::uint32_t trainer) {
  Training& training = training_at(trainer);
  return copy_out(training.directions(training.evaluation.n));
}

Typed<"{ tokens: Float64Array; positions: Float64Array }"> trainer_coordinates_out(
    std::uint32_t trainer, const Typed<"Table">& directions) {
  Training& training = training_at(trainer);
  const RowCoordinates found = training.coordinates(training.evaluation.n, matrix_in<double>(directions));
  Value result = Value::object();
  result.set("tokens", copy_out(found.tokens));
  result.set("positions", copy_out(found.positions));
  return result;
}

Typed<"Parameter[]"> trainer_parameters_out(std::uint32_t trainer) {
  return training_at(trainer).parameters();
}

void set_trainer_parameter_out(std::uint32_t trainer, const std::string& name,
                               const Typed<"Floats">& values) {
  training_at(trainer).set_parameter(name, values);
}

Typed<"{ vocabulary: number; classes: number }"> task_sizes_out(const Typed<"Task">& options) {
  const TaskOptions task = task_in(options);
  Value result = Value::object();
  result.set("vocabulary", task.vocabulary());
  result.set("classes", task.classes());
  return result;
}

Typed<"Batch"> task_examples_out(const Typed<"Task & { sequences: number; seed: number }">& options) {
  Examples examples(task_in(options), options["sequences"].as<int>(), options["seed"].as<std::uint32_t>(),
                    Examples::evaluation);
  return batch_out(examples.next());
}

Typed<"Int32Array"> task_targets_out(const Typed<"Task & { tokens: Integers }">& options) {
  const TaskOptions task = task_in(options);
  const std::vector<int> tokens = integers_in(options["tokens"]);
  std::vector<int> targets(tokens.size());
  for (std::size_t first = 0; first < tokens.size(); first += task.n)
    find_targets(task, tokens.data() + first, targets.data() + first);
  return copy_out(targets.data(), targets.size());
}

EMSCRIPTEN_BINDINGS(training) {
  using emscripten::function;
  function("trainingSchemes", &training_schemes_out);
  function("trainer", &trainer_out);
  function("deleteTrainer", &delete_trainer_out);
  function("trainerSteps", &trainer_steps_out);
  function("trainerStep", &trainer_step_out);
  function("trainerDiverged", &trainer_diverged_out);
  function("trainerKeeps", &trainer_keeps_out);
  function("evaluateTrainer", &evaluate_trainer_out);
  function("trainerLogits", &trainer_logits_out);
  function("trainerAttention", &trainer_attention_out);
  function("trainerShares", &trainer_shares_out);
  function("trainerLoudness", &trainer_loudness_out);
  function("recipes", &recipes_out);
  function("trainerOverlap", &trainer_overlap_out);
  function("trainerAngles", &trainer_angles_out);
  function("trainerDirections", &trainer_directions_out);
  function("trainerCoordinates", &trainer_coordinates_out);
  function("trainerParameters", &trainer_parameters_out);
  function("setTrainerParameter", &set_trainer_parameter_out);
  function("taskSizes", &task_sizes_out);
  function("taskExamples", &task_examples_out);
  function("taskTargets", &task_targets_out);
}

}  // namespace
}  // namespace superpose
