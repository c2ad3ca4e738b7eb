// Targets follow the definitions of the tasks, and draws are uniform and repeatable.
#include "training/tasks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "training/trainer.h"

namespace superpose {
namespace {

// Checks each target against its rule, over many draws.
void holds(Task task, int n, const auto& check) {
  const TaskOptions options{task, n};
  Examples examples(options, 50, 3, Examples::training);
  for (int batch = 0; batch < 3; ++batch) {
    const Batch drawn = examples.next();
    for (int s = 0; s < 50; ++s) {
      const std::vector<int> tokens(drawn.tokens + s * n, drawn.tokens + (s + 1) * n);
      const std::vector<int> targets(drawn.targets + s * n, drawn.targets + (s + 1) * n);
      for (int i = 0; i < n; ++i) {
        EXPECT_GE(tokens[i], 0);
        EXPECT_LT(tokens[i], options.vocabulary());
        EXPECT_GE(targets[i], kNoTarget);
        EXPECT_LT(targets[i], options.classes());
      }
      check(tokens, targets);
    }
  }
}

using Ids = std::vector<int>;

TEST(Tasks, BadgeAsksForTheColourOfAKey) {
  holds(Task::badge, 16, [](const Ids& tokens, const Ids& targets) {
    int colours[8], questions = 0;
    std::set<int> keys;
    for (const int token : tokens) {
      if (token < 32) keys.insert(token / 4), colours[token / 4] = token % 4;
    }
    EXPECT_EQ(keys.size(), 8u);
    for (int i = 0; i < 16; ++i) {
      if (tokens[i] >= 32) {
        ++questions;
        EXPECT_EQ(targets[i], colours[tokens[i] - 32]);
      } else {
        EXPECT_EQ(targets[i], kNoTarget);
      }
    }
    EXPECT_EQ(questions, 8);
  });
}

TEST(Tasks, RollTellsTheColourOfEachLetterAtItsPlace) {
  holds(Task::roll, 7, [](const Ids& tokens, const Ids& targets) {
    std::set<int> letters;
    for (const int token : tokens) {
      letters.insert(token / 4);
      EXPECT_EQ(targets[token / 4], token % 4);
    }
    EXPECT_EQ(letters.size(), 7u);
  });
}

TEST(Tasks, WhereAsksForThePlaceOfAnItem) {
  holds(Task::where, 16, [](const Ids& tokens, const Ids& targets) {
    std::set<int> items;
    int questions = 0;
    for (int i = 0; i < 16; ++i) {
      if (tokens[i] < 8) {
        items.insert(tokens[i]);
        EXPECT_EQ(targets[i], kNoTarget);
      } else {
        ++questions;
        ASSERT_NE(targets[i], kNoTarget);
        EXPECT_EQ(tokens[targets[i]], tokens[i] - 8);
      }
    }
    EXPECT_EQ(items.size(), 8u);
    EXPECT_EQ(questions, 8);
  });
}

TEST(Tasks, TheOthersCopyAToken) {
  const auto copies = [](Task task, const auto& from) {
    holds(task, 9, [&](const Ids& tokens, const Ids& targets) {
      for (int i = 0; i < 9; ++i) {
        const int j = from(tokens, i);
        EXPECT_EQ(targets[i], j < 0 ? kNoTarget : tokens[j]);
      }
    });
  };
  copies(Task::lookup, [](const Ids& tokens, int i) { return tokens[i]; });
  copies(Task::prev, [](const Ids&, int i) { return i - 1; });
}

// Uniform within five standard errors.
TEST(Tasks, DrawsAreUniform) {
  for (const Task task : {Task::lookup, Task::badge, Task::roll}) {
    const TaskOptions options{task, 8};
    Examples examples(options, 4000, 5, Examples::evaluation);
    const Batch batch = examples.next();
    std::vector<double> first(options.vocabulary());
    for (int s = 0; s < 4000; ++s) ++first[batch.tokens[s * 8]];
    for (int id = 0; id < options.vocabulary(); ++id) {
      // A first token of badge is a fact or a question, with probability one half each.
      const double chance = task != Task::badge ? 1.0 / options.vocabulary() : id < 16 ? 0.5 / 16 : 0.5 / 4;
      EXPECT_NEAR(first[id] / 4000, chance, 5 * std::sqrt(chance * (1 - chance) / 4000)) << id;
    }
  }
}

TEST(Tasks, SeedsAndUsesDiffer) {
  const TaskOptions options;
  const auto draw = [&](std::uint32_t seed, Examples::Use use) {
    Examples examples(options, 4, seed, use);
    const Batch batch = examples.next();
    return Ids(batch.tokens, batch.tokens + 4 * options.n);
  };
  EXPECT_EQ(draw(1, Examples::training), draw(1, Examples::training));
  EXPECT_NE(draw(1, Examples::training), draw(2, Examples::training));
  EXPECT_NE(draw(1, Examples::training), draw(1, Examples::evaluation));
}

}  // namespace
}  // namespace superpose
