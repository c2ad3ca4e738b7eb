// The figures' claims about training, over seeds: the recommended model, 200 steps. Not under sanitizers,
// where it takes minutes; the other tests take the same paths through the code.
#include "sanitized.h"
#if !SUPERPOSE_SANITIZED
#include <gtest/gtest.h>

#include <string>

#include "training/measures.h"
#include "training/trainer.h"

namespace superpose {
namespace {

constexpr std::uint32_t kSeeds[] = {1, 2, 3, 4, 5};
constexpr int kCount = std::size(kSeeds);

struct Trained {
  TaskOptions task;
  Trainer<float> trainer;
  Examples looked_at;
  Batch fixed;

  Trained(Task which, ModelOptions options, std::uint32_t seed, int steps = 200)
      : task{which, 16, 0, 1},
        trainer(with_sizes(options, task), with_steps(steps), seed),
        looked_at(task, 128, seed, Examples::evaluation),
        fixed(looked_at.next()) {
    Examples examples(task, 32, seed, Examples::training);
    for (int s = 0; s < steps; ++s) trainer.step(examples.next());
  }

  std::array<double, kTermCount> canonical() {
    return trained_shares(trainer.model(), trainer.parameters(), fixed, kAllTerms, TermGauge::canonical).mean;
  }
  double accuracy(const Terms& kept = kAllTerms) { return trainer.evaluate(fixed, kept).accuracy(); }
  TrainedShares shares() { return trained_shares(trainer.model(), trainer.parameters(), fixed); }
  double overlap() {
    return row_overlap(trainer.options(), trainer.layout(), trainer.parameters(), task.n).overlap;
  }

  static ModelOptions with_sizes(ModelOptions options, const TaskOptions& task) {
    options.vocabulary = task.vocabulary();
    options.classes = task.classes();
    options.rows = task.n;
    return options;
  }
  static OptimizerOptions with_steps(int steps) {
    OptimizerOptions options;
    options.steps = steps;
    return options;
  }
};

// The mean over the first three seeds.
double mean_accuracy(Task task, const ModelOptions& options, int steps = 200) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += Trained(task, options, kSeeds[k], steps).accuracy();
  return sum / 3;
}

struct Question {
  Task task;
  Term term;
  const char* name;
};

class FourTasks : public testing::TestWithParam<Question> {};

// The term that a task needs takes over, is necessary and is sufficient.
TEST_P(FourTasks, OneTermEach) {
  const auto [task, term, name] = GetParam();
  ModelOptions without;
  without.zero_scores = true;
  const double floor = mean_accuracy(task, without);
  double shares[kTermCount] = {}, canonical = 0, whole = 0, cut = 0, only = 0;
  for (const std::uint32_t seed : kSeeds) {
    Trained run(task, {}, seed);
    whole += run.accuracy() / kCount;
    const TrainedShares found = run.shares();
    for (int t = 0; t < kTermCount; ++t) shares[t] += found.mean[t] / kCount;
    canonical += run.canonical()[term] / kCount;
    Terms kept = kAllTerms, alone{};
    kept[term] = false;
    alone[term] = true;
    cut += run.accuracy(kept) / kCount;
    only += run.accuracy(alone) / kCount;
  }
  std::printf(
      "%s: accuracy %.3f, cut %.3f (floor %.3f), only %.3f; shares %.3f %.3f %.3f %.3f, canonical %.3f\n",
      name, whole, cut, floor, only, shares[0], shares[1], shares[2], shares[3], canonical);
  EXPECT_GT(canonical, 0.8);
  EXPECT_GT(whole, 0.98);
  EXPECT_GT(only, 0.98);
  EXPECT_LT(cut, floor + 0.03);
  for (int t = 0; t < kTermCount; ++t) {
    if (t == term)
      EXPECT_GT(shares[t], 0.85);
    else
      EXPECT_LT(shares[t], 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(Training, FourTasks,
                         testing::Values(Question{Task::badge, token_token, "badge"},
                                         Question{Task::lookup, token_position, "lookup"},
                                         Question{Task::roll, position_token, "roll"},
                                         Question{Task::prev, position_position, "prev"}),
                         [](const auto& info) { return std::string(info.param.name); });

// A single untied layer has no cross terms.
TEST(Training, UntiedStaysAtTheFloorWhereCrossTermsAreAsked) {
  ModelOptions untied, without;
  untied.scheme = TrainingScheme::untied;
  without.zero_scores = true;
  for (const Task task : {Task::lookup, Task::roll}) {
    const double found = mean_accuracy(task, untied), floor = mean_accuracy(task, without);
    std::printf("untied %.3f, floor %.3f\n", found, floor);
    EXPECT_LT(found, floor + 0.03);
  }
  EXPECT_GT(mean_accuracy(Task::badge, untied), 0.98);
  EXPECT_GT(mean_accuracy(Task::prev, untied), 0.98);
}

TEST(Training, TokensAndPositionsPartWhereBothAreNeeded) {
  double lookup = 0, badge = 0, before = 0;
  for (const std::uint32_t seed : kSeeds) {
    before += Trained(Task::lookup, {}, seed, 0).overlap() / kCount;
    lookup += Trained(Task::lookup, {}, seed).overlap() / kCount;
    badge += Trained(Task::badge, {}, seed).overlap() / kCount;
  }
  std::printf("overlap %.3f before, %.3f on lookup, %.3f on badge\n", before, lookup, badge);
  EXPECT_LT(lookup, 0.3);
  EXPECT_GT(badge, 0.3);
  EXPECT_NEAR(before, 1, 0.15);
}

// At D = 12 learned tables have room that frozen ones lack.
TEST(Training, FrozenTablesNeedMoreWidth) {
  ModelOptions learned, frozen;
  learned.width = frozen.width = 12;
  frozen.table = Table::frozen;
  const double of_learned = mean_accuracy(Task::lookup, learned, 400);
  const double of_frozen = mean_accuracy(Task::lookup, frozen, 400);
  std::printf("learned %.3f, frozen %.3f\n", of_learned, of_frozen);
  EXPECT_GT(of_learned, 0.98);
  EXPECT_LT(of_frozen, 0.6);
}

}  // namespace
}  // namespace superpose
#endif
