// Bindings of the trainer: a model in training that stays in the module's memory with its examples for
// training and for evaluation.
#include <optional>

#include "bound.h"
#include "training/measures.h"
#include "training/trainer.h"

namespace superpose {
namespace {

// A batch with its own copy of the ids.
struct BatchCopy {
  int n = 0;
  std::vector<int> tokens, targets;

  Batch view() const { return {static_cast<int>(tokens.size()) / n, n, tokens.data(), targets.data()}; }
};

BatchCopy copy_of(const Batch& batch) {
  return {batch.n,
          {batch.tokens, batch.tokens + batch.places()},
          {batch.targets, batch.targets + batch.places()}};
}

struct SchemeFacts {
  TrainingScheme id;
  bool in_stream, sums, has_terms, has_table;
  int width;
};

struct TaskSizes {
  int vocabulary, classes;
};

struct Measurement {
  double loss, accuracy;
  int targets;
};

struct Parameter {
  std::string name;
  int rows, columns;
  Matrix<float> data;
};

}  // namespace

SUPERPOSE_MEMBERS(BatchCopy, n, tokens, targets);
SUPERPOSE_MEMBERS(SchemeFacts, id, in_stream, sums, has_terms, has_table, width);
SUPERPOSE_MEMBERS(TaskSizes, vocabulary, classes);
SUPERPOSE_MEMBERS(Measurement, loss, accuracy, targets);
SUPERPOSE_MEMBERS(Parameter, name, rows, columns, data);
SUPERPOSE_MEMBERS(TaskOptions, task, n);
SUPERPOSE_MEMBERS(ModelOptions, vocabulary, classes, positions, scheme, table, d_model, d_position, heads,
                  layers, layer_norm, causal, zero_scores, fixed_tokens, fixed_positions, scale_tokens,
                  sigma_tokens, sigma_positions);
SUPERPOSE_MEMBERS(OptimizerOptions, learning_rate, weight_decay, schedule, warm_up, steps);
SUPERPOSE_MEMBERS(Loudness, tokens, positions);
SUPERPOSE_MEMBERS(LoudnessRecipe, name, tokens, positions, position_scale);
SUPERPOSE_MEMBERS(RowOverlap, overlap, chance);
SUPERPOSE_MEMBERS(RowCoordinates, tokens, positions);

namespace {

std::vector<SchemeFacts> training_schemes() {
  std::vector<SchemeFacts> all;
  for (std::size_t k = 0; k < names(TrainingScheme()).size(); ++k) {
    ModelOptions of;
    of.scheme = static_cast<TrainingScheme>(k);
    all.push_back(
        {of.scheme, of.in_stream(), of.sums(), of.has_terms(), of.has_table(), of.stream() / of.d_model});
  }
  return all;
}

struct Training {
  Trainer trainer;
  std::optional<Examples> examples;
  BatchCopy evaluation;
};

// A trainer on a task's examples. If a batch for evaluation is given, the trainer has no examples, and
// each step passes the batch to train on.
std::unique_ptr<Training> trainer(const ModelOptions& model, const OptimizerOptions& optimizer,
                                  std::uint32_t seed, const BatchCopy& evaluation, const TaskOptions& task,
                                  int sequences, int evaluation_sequences) {
  auto training = std::make_unique<Training>(Training{{model, optimizer, seed}, {}, evaluation});
  if (evaluation.n > 0) return training;
  training->examples.emplace(task, sequences, seed, Examples::training);
  training->evaluation = copy_of(Examples(task, evaluation_sequences, seed, Examples::evaluation).next());
  return training;
}

// The losses of up to `count` steps. There are fewer when the run diverges; the last loss is then that of
// the diverging step.
std::vector<double> steps(Training& of, int count) {
  std::vector<double> losses;
  losses.reserve(count);
  for (int s = 0; s < count && !of.trainer.diverged(); ++s)
    losses.push_back(of.trainer.step(of.examples->next()));
  return losses;
}

double step(Training& of, const BatchCopy& batch) { return of.trainer.step(batch.view()); }

bool diverged(const Training& of) { return of.trainer.diverged(); }

// All terms except these.
Terms without(const std::vector<Term>& cuts) {
  Terms terms = kAllTerms;
  for (const Term cut : cuts) terms[cut] = false;
  return terms;
}

void cut_terms(Training& of, const std::vector<Term>& cuts) { of.trainer.set_terms(without(cuts)); }

// Evaluates on `batch` or, if that is empty, on the trainer's own evaluation batch.
Measurement evaluate(Training& of, const std::vector<Term>& cuts, const BatchCopy& batch) {
  const Batch target = (batch.n > 0 ? batch : of.evaluation).view();
  const Evaluation evaluation = of.trainer.evaluate(target, without(cuts));
  return {evaluation.loss, evaluation.accuracy(), evaluation.targets};
}

Matrix<float> logits(Training& of, const BatchCopy& batch) {
  return of.trainer.model().logits(of.trainer.parameters(), batch.view(), of.trainer.terms());
}

Matrix<float> attention(Training& of, const BatchCopy& batch, int layer) {
  return of.trainer.model().attention(of.trainer.parameters(), batch.view(), layer, of.trainer.terms());
}

std::array<double, kTermCount> shares(Training& of, GaugeKind gauge) {
  return trained_shares(of.trainer.model(), of.trainer.parameters(), of.evaluation.view(), of.trainer.terms(),
                        gauge);
}

Loudness loudness_of(Training& of) {
  return row_loudness(of.trainer.options(), of.trainer.parameters(), of.evaluation.n);
}

RowOverlap overlap(Training& of) {
  return row_overlap(of.trainer.options(), of.trainer.parameters(), of.evaluation.n);
}

Matrix<double> directions(Training& of) {
  return row_directions(of.trainer.options(), of.trainer.parameters(), of.evaluation.n);
}

RowCoordinates coordinates(Training& of, const Matrix<double>& directions) {
  return row_coordinates(of.trainer.options(), of.trainer.parameters(), of.evaluation.n, directions);
}

std::vector<Parameter> parameters(Training& of) {
  std::vector<Parameter> all;
  for (const NamedParameter& parameter : named_parameters(of.trainer.options(), of.trainer.parameters())) {
    const auto& values = *parameter.values;
    all.push_back({parameter.name, static_cast<int>(values.rows()), static_cast<int>(values.cols()), values});
  }
  return all;
}

void set_parameter(Training& of, const std::string& name, const Vector<float>& values) {
  for (const NamedParameter& parameter : named_parameters(of.trainer.options(), of.trainer.parameters())) {
    if (parameter.name == name) std::ranges::copy(values, parameter.values->data());
  }
}

TaskSizes sizes_of(const TaskOptions& task) { return {task.vocabulary(), task.classes()}; }

BatchCopy task_examples(const TaskOptions& task, int sequences, std::uint32_t seed) {
  return copy_of(Examples(task, sequences, seed, Examples::evaluation).next());
}

std::vector<int> task_targets(const TaskOptions& task, const std::vector<int>& tokens) {
  std::vector<int> targets(tokens.size());
  for (std::size_t first = 0; first < tokens.size(); first += task.n)
    find_targets(task, tokens.data() + first, targets.data() + first);
  return targets;
}

EMSCRIPTEN_BINDINGS(training) {
  bind<&training_schemes>("trainingSchemes");
  bind<&trainer>("trainer");
  bind<&trainer_bytes>("trainerBytes");
  bind_delete<Training>("deleteTrainer");
  bind<&steps>("trainerSteps");
  bind<&step>("trainerStep");
  bind<&diverged>("trainerDiverged");
  bind<&cut_terms>("cutTrainerTerms");
  bind<&evaluate>("evaluateTrainer");
  bind<&logits>("trainerLogits");
  bind<&trainer_logits_bytes>("trainerLogitsBytes");
  bind<&attention>("trainerAttention");
  bind<&trainer_attention_bytes>("trainerAttentionBytes");
  bind<&shares>("trainerShares");
  bind<&loudness_of>("trainerLoudness");
  bind<&recipes>("recipes");
  bind<&overlap>("trainerOverlap");
  bind<&directions>("trainerDirections");
  bind<&coordinates>("trainerCoordinates");
  bind<&row_coordinates_bytes>("trainerCoordinatesBytes");
  bind<&parameters>("trainerParameters");
  bind<&set_parameter>("setTrainerParameter");
  bind<&sizes_of>("taskSizes");
  bind<&task_examples>("taskExamples");
  bind<&batch_bytes>("batchBytes");
  bind<&task_targets>("taskTargets");
}

}  // namespace
}  // namespace superpose
