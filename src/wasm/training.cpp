// A model in training that stays in the module's memory, with its examples for training and for measuring.
#include <array>
#include <optional>

#include "bound.h"
#include "training/measures.h"
#include "training/trainer.h"

namespace superpose {

SUPERPOSE_MEMBERS(TaskOptions, task, n);
SUPERPOSE_MEMBERS(ModelOptions, vocabulary, classes, positions, scheme, table, d_model, d_position, heads,
                  layers, layerNorm, causal, zeroScores, fixedTokens, fixedPositions, scaleTokens,
                  sigmaTokens, sigmaPositions);
SUPERPOSE_MEMBERS(OptimizerOptions, learningRate, weightDecay, schedule, warmUp, steps, beta1, beta2, epsilon,
                  clip);
SUPERPOSE_MEMBERS(Loudness, tokens, positions);
SUPERPOSE_MEMBERS(RowOverlap, overlap, chance);
SUPERPOSE_MEMBERS(RowCoordinates, tokens, positions);
SUPERPOSE_MEMBERS(TrainedShares, byHead, mean);

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
  return Value::object()
      .set("n", batch.n)
      .set("tokens", copy_out(batch.tokens, count))
      .set("targets", copy_out(batch.targets, count));
}

struct Training {
  Trainer trainer;
  std::optional<Examples> examples;
  HeldBatch evaluation;
};

Training& training_at(std::uint32_t address) { return at_address<Training>(address); }

// A trainer on the task's examples or, given a batch for measuring, on the batch given with each step.
std::uint32_t trainer_out(const Typed<"TrainerOptions">& options) {
  const std::uint32_t seed = options["seed"].as<std::uint32_t>();
  auto* const training =
      new Training{{value_in<ModelOptions>(options), value_in<OptimizerOptions>(options), seed}, {}, {}};
  if (!options["evaluation"].isUndefined()) {
    training->evaluation = batch_in(options["evaluation"]);
    return address_of(training);
  }
  const TaskOptions task = value_in<TaskOptions>(options);
  training->examples.emplace(task, options["sequences"].as<int>(), seed, Examples::training);
  Examples examples(task, options["evaluationSequences"].as<int>(), seed, Examples::evaluation);
  const Batch drawn = examples.next();
  training->evaluation = {drawn.n,
                          {drawn.tokens, drawn.tokens + drawn.places()},
                          {drawn.targets, drawn.targets + drawn.places()}};
  return address_of(training);
}

void delete_trainer_out(std::uint32_t trainer) { delete &training_at(trainer); }

// The losses of up to `count` steps. There are fewer when the run diverges; the last is then that of the
// diverging step.
Typed<"Float64Array"> trainer_steps_out(std::uint32_t trainer, int count) {
  Training& training = training_at(trainer);
  std::vector<double> losses;
  losses.reserve(count);
  for (int s = 0; s < count && !training.trainer.diverged(); ++s)
    losses.push_back(training.trainer.step(training.examples->next()));
  return copy_out(losses.data(), losses.size());
}

double trainer_step_out(std::uint32_t trainer, const Typed<"Batch">& batch) {
  return training_at(trainer).trainer.step(batch_in(batch).view());
}

bool trainer_diverged_out(std::uint32_t trainer) { return training_at(trainer).trainer.diverged(); }

constexpr std::array<const char*, kTermCount> kTermNames = {"token-token", "token-position", "position-token",
                                                            "position-position"};

// Whether each term, by its name, is kept.
Terms terms_in(const Value& kept) {
  Terms terms;
  for (int t = 0; t < kTermCount; ++t) terms[t] = kept[kTermNames[t]].as<bool>();
  return terms;
}

void trainer_keeps_out(std::uint32_t trainer, const Typed<"KeptTerms">& kept) {
  training_at(trainer).trainer.keep(terms_in(kept));
}

Value evaluation_out(const Evaluation& found) {
  return Value::object()
      .set("loss", found.loss)
      .set("accuracy", found.accuracy())
      .set("targets", found.targets);
}

// For a given batch, or the one the trainer measures on.
Typed<"TrainingEvaluation"> evaluate_trainer_out(std::uint32_t trainer, const Typed<"KeptTerms">& kept,
                                                 const Typed<"Batch | undefined">& batch) {
  Training& training = training_at(trainer);
  const HeldBatch own = batch.isUndefined() ? HeldBatch() : batch_in(batch);
  return evaluation_out(
      training.trainer.evaluate((own.tokens.empty() ? training.evaluation : own).view(), terms_in(kept)));
}

Typed<"Loudness"> trainer_loudness_out(std::uint32_t trainer) {
  Training& of = training_at(trainer);
  return value_out(row_loudness(of.trainer.options(), of.trainer.parameters(), of.evaluation.n));
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
    Value out = value_out(begins);
    out.set("positionScale", position_scale(begins));
    out.set("name", std::string(recipe.name));
    out.set("options", options);
    list.push(out);
  }
  return list;
}

Typed<"Float32Array"> trainer_logits_out(std::uint32_t trainer, const Typed<"Batch">& batch) {
  Trainer& of = training_at(trainer).trainer;
  return copy_out(of.model().logits(of.parameters(), batch_in(batch).view(), of.kept()));
}

Typed<"Float32Array"> trainer_attention_out(std::uint32_t trainer, const Typed<"Batch">& batch, int layer) {
  Trainer& of = training_at(trainer).trainer;
  return copy_out(of.model().attention(of.parameters(), batch_in(batch).view(), layer, of.kept()));
}

Typed<"TrainedShares"> trainer_shares_out(std::uint32_t trainer, bool canonical) {
  auto& [of, examples, evaluation] = training_at(trainer);
  return value_out(trained_shares(of.model(), of.parameters(), evaluation.view(), of.kept(),
                                  canonical ? TermGauge::canonical : TermGauge::raw));
}

Typed<"RowOverlap"> trainer_overlap_out(std::uint32_t trainer) {
  Training& of = training_at(trainer);
  return value_out(row_overlap(of.trainer.options(), of.trainer.parameters(), of.evaluation.n));
}

Typed<"Float64Array"> trainer_directions_out(std::uint32_t trainer) {
  Training& of = training_at(trainer);
  return copy_out(row_directions(of.trainer.options(), of.trainer.parameters(), of.evaluation.n));
}

Typed<"RowCoordinates"> trainer_coordinates_out(std::uint32_t trainer, const Typed<"Table">& directions) {
  Training& of = training_at(trainer);
  return value_out(row_coordinates(of.trainer.options(), of.trainer.parameters(), of.evaluation.n,
                                   matrix_in<double>(directions)));
}

Typed<"Parameter[]"> trainer_parameters_out(std::uint32_t trainer) {
  Trainer& of = training_at(trainer).trainer;
  Value list = Value::array();
  for (const Named& parameter : named(of.options(), of.parameters())) {
    Value out = Value::object();
    out.set("name", parameter.name);
    out.set("rows", static_cast<int>(parameter.values->rows()));
    out.set("columns", static_cast<int>(parameter.values->cols()));
    out.set("data", copy_out(*parameter.values));
    list.push(out);
  }
  return list;
}

void set_trainer_parameter_out(std::uint32_t trainer, const std::string& name,
                               const Typed<"Floats">& values) {
  Trainer& of = training_at(trainer).trainer;
  for (const Named& parameter : named(of.options(), of.parameters())) {
    if (parameter.name == name) copy_in(values, parameter.values->data(), parameter.values->size());
  }
}

Typed<"{ vocabulary: number; classes: number }"> task_sizes_out(const Typed<"Task">& options) {
  const TaskOptions task = value_in<TaskOptions>(options);
  return Value::object().set("vocabulary", task.vocabulary()).set("classes", task.classes());
}

Typed<"Batch"> task_examples_out(const Typed<"Task & { sequences: number; seed: number }">& options) {
  Examples examples(value_in<TaskOptions>(options), options["sequences"].as<int>(),
                    options["seed"].as<std::uint32_t>(), Examples::evaluation);
  return batch_out(examples.next());
}

Typed<"Int32Array"> task_targets_out(const Typed<"Task & { tokens: Integers }">& options) {
  const TaskOptions task = value_in<TaskOptions>(options);
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
