#include "training/tasks.h"

#include <algorithm>
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

// The last place of an item.
int place_of(int id, int n, const int* tokens) {
  int place = kNoTarget;
  for (int j = 0; j < n; ++j) {
    if (tokens[j] == id) place = j;
  }
  return place;
}

// The colour thrown to a place; none unless exactly one lands there.
int colour_landing(int place, const int* tokens) {
  int colour = kNoTarget, landed = 0;
  for (int length = 1; length <= std::min(kLengths, place); ++length) {
    const int token = tokens[place - length];
    if (token / kColours + 1 != length) continue;
    colour = token % kColours;
    ++landed;
  }
  return landed == 1 ? colour : kNoTarget;
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
    case Task::jump:
      return i - 1 - tokens[i] % kLengths;
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
    case Task::thrown:
      return kLengths * kColours;
    case Task::last:
      return n / 2 * kColours;
    case Task::mix:
      return 2 * n;
    default:
      return symbols ? symbols : n;
  }
}

int TaskOptions::classes() const {
  if (task == Task::last) return n / 2;
  return task == Task::badge || task == Task::roll || task == Task::thrown ? kColours : vocabulary();
}

void draw_tokens(const TaskOptions& options, Random& random, int* tokens) {
  const int n = options.n;
  if (options.task != Task::badge && options.task != Task::roll && options.task != Task::where) {
    const int vocabulary = options.vocabulary();
    for (int i = 0; i < n; ++i) tokens[i] = random.below(vocabulary);
    return;
  }
  const int once = options.task == Task::roll ? n : n / 2;
  const int colours = options.task == Task::where ? 1 : kColours;
  for (int id = 0; id < once; ++id) tokens[id] = id * colours + random.below(colours);
  for (int i = once; i < n; ++i) tokens[i] = once * colours + random.below(once);
  shuffle(tokens, n, random);
}

void find_targets(const TaskOptions& options, const int* tokens, int* targets) {
  const int n = options.n, first_question = n / 2 * kColours;
  int last = kNoTarget;
  for (int i = 0; i < n; ++i) {
    if (options.task == Task::last) {
      if (tokens[i] % kColours == 0) last = tokens[i] / kColours;
      targets[i] = last;
    } else if (options.task == Task::thrown) {
      targets[i] = colour_landing(i, tokens);
    } else if (options.task == Task::badge) {
      targets[i] = tokens[i] < first_question ? kNoTarget : colour_of(tokens[i] - first_question, n, tokens);
    } else if (options.task == Task::where) {
      targets[i] = tokens[i] < n / 2 ? kNoTarget : place_of(tokens[i] - n / 2, n, tokens);
    } else if (options.task == Task::roll) {
      targets[i] = colour_of(i, n, tokens);
    } else {
      const int from = source(options, tokens, i);
      targets[i] = from < 0 ? kNoTarget : tokens[from];
    }
  }
}

}  // namespace superpose
