#include "training/tasks.h"

#include <utility>

namespace superpose {
namespace {

void shuffle(int* values, int count, Random& random) {
  for (int i = count - 1; i > 0; --i) std::swap(values[i], values[random.below(i + 1)]);
}

// For keys or letters in colours: the colour of the last one whose key or letter is `id`.
int colour_of(int id, int n, const int* tokens) {
  int colour = kNoTarget;
  for (int j = 0; j < n; ++j) {
    if (tokens[j] / kColours == id) colour = tokens[j] % kColours;
  }
  return colour;
}

// The place whose token is the target of place i.
int source(const TaskOptions& options, const int* tokens, int i) {
  switch (options.task) {
    case Task::lookup:
      return tokens[i];
    case Task::rev:
      return options.n - 1 - i;
    case Task::back:
      return i - options.back;
    case Task::mix:
      return tokens[i] >= options.n ? tokens[i] - options.n : i - 1;
    default:
      return i - 1;
  }
}

}  // namespace

int TaskOptions::vocabulary() const {
  switch (task) {
    case Task::badge:
      return n / 2 * (kColours + 1);
    case Task::lookup:
      return n;
    case Task::roll:
      return n * kColours;
    case Task::mix:
      return 2 * n;
    default:
      return symbols ? symbols : n;
  }
}

int TaskOptions::classes() const {
  return task == Task::badge || task == Task::roll ? kColours : vocabulary();
}

void draw_tokens(const TaskOptions& options, Random& random, int* tokens) {
  const int n = options.n;
  if (options.task != Task::badge && options.task != Task::roll) {
    const int vocabulary = options.vocabulary();
    for (int i = 0; i < n; ++i) tokens[i] = random.below(vocabulary);
    return;
  }
  const bool badge = options.task == Task::badge;
  const int coloured = badge ? n / 2 : n;
  for (int id = 0; id < coloured; ++id) tokens[id] = id * kColours + random.below(kColours);
  for (int i = coloured; i < n; ++i) tokens[i] = coloured * kColours + random.below(coloured);
  shuffle(tokens, n, random);
}

void find_targets(const TaskOptions& options, const int* tokens, int* targets) {
  const int n = options.n, first_question = n / 2 * kColours;
  for (int i = 0; i < n; ++i) {
    if (options.task == Task::badge) {
      targets[i] = tokens[i] < first_question ? kNoTarget : colour_of(tokens[i] - first_question, n, tokens);
    } else if (options.task == Task::roll) {
      targets[i] = colour_of(i, n, tokens);
    } else {
      const int from = source(options, tokens, i);
      targets[i] = from < 0 ? kNoTarget : tokens[from];
    }
  }
}

}  // namespace superpose
