#include "training/tasks.h"

#include <utility>

namespace superpose {
namespace {

void shuffle(int* values, int count, Random& random) {
  for (int i = count - 1; i > 0; --i) std::swap(values[i], values[random.below(i + 1)]);
}

// The colour of the last token that has a colour and whose key or letter is `id`.
int colour_of(int id, int n, const int* tokens) {
  int colour = kNoTarget;
  for (int j = 0; j < n; ++j) {
    if (tokens[j] / kColours == id) colour = tokens[j] % kColours;
  }
  return colour;
}

// The last place of an item.
int place_of(int id, int n, const int* tokens) {
  int place = kNoTarget;
  for (int j = 0; j < n; ++j) {
    if (tokens[j] == id) place = j;
  }
  return place;
}

int target(const TaskOptions& options, const int* tokens, int i) {
  const int n = options.n, token = tokens[i];
  switch (options.task) {
    case Task::badge: {
      const int first_question = n / 2 * kColours;
      return token < first_question ? kNoTarget : colour_of(token - first_question, n, tokens);
    }
    case Task::lookup:
      return tokens[token];
    case Task::roll:
      return colour_of(i, n, tokens);
    case Task::prev:
      return i > 0 ? tokens[i - 1] : kNoTarget;
    case Task::where:
      return token < n / 2 ? kNoTarget : place_of(token - n / 2, n, tokens);
  }
  return kNoTarget;
}

}  // namespace

int TaskOptions::vocabulary() const {
  return task == Task::badge ? n / 2 * (kColours + 1) : task == Task::roll ? n * kColours : n;
}

int TaskOptions::classes() const { return task == Task::badge || task == Task::roll ? kColours : n; }

void draw_tokens(const TaskOptions& options, Random& random, int* tokens) {
  const int n = options.n;
  if (options.task == Task::lookup || options.task == Task::prev) {
    for (int i = 0; i < n; ++i) tokens[i] = random.below(n);
    return;
  }
  const int once = options.task == Task::roll ? n : n / 2;
  const int colours = options.task == Task::where ? 1 : kColours;
  for (int id = 0; id < once; ++id) tokens[id] = id * colours + random.below(colours);
  for (int i = once; i < n; ++i) tokens[i] = once * colours + random.below(once);
  shuffle(tokens, n, random);
}

void find_targets(const TaskOptions& options, const int* tokens, int* targets) {
  for (int i = 0; i < options.n; ++i) targets[i] = target(options, tokens, i);
}

}  // namespace superpose
