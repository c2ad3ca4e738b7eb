// Small tasks, each solved by one kind of score, with any number of seeded examples.
#pragma once

#include <array>

#include "numeric/bytes.h"
#include "numeric/random.h"

namespace superpose {

enum class Task {
  badge,   // n/2 tokens "key k has colour c", n/2 "key k?", shuffled: y_i is the colour of the key asked for
  lookup,  // n digits: y_i = t_(t_i)
  roll,    // a permutation of n letters, each in a colour: y_i is the colour of letter i
  prev,    // y_i = t_(i-1)
  where,   // n/2 items once each, n/2 questions "item k?", shuffled: y_i is the place of the item asked for
};
constexpr std::array<const char*, 5> names(Task) { return {"badge", "lookup", "roll", "prev", "where"}; }

constexpr int kColours = 4;
constexpr int kNoTarget = -1;

// The options of a task. Ids of tokens are k * 4 + c and 2n + k in badge, k and n/2 + k in where, letter * 4
// + c in roll, and the token itself in the others.
struct TaskOptions {
  Task task = Task::lookup;
  int n = 16;  // tokens of a sequence, >= 1; even for badge and where

  int vocabulary() const;
  int classes() const;
};

// Sequences one after another; targets are classes or kNoTarget.
struct Batch {
  int sequences = 0;
  int n = 0;
  const int* tokens = nullptr;   // [sequences, n]
  const int* targets = nullptr;  // [sequences, n]

  int places() const { return sequences * n; }
};

// The tokens [n] of an example: uniform, except that some tokens of badge, roll and where occur exactly once.
void draw_tokens(const TaskOptions& options, Random& random, int* tokens);

// The targets [n] of any tokens of the task. If a badge, letter or item occurs twice, the last of them
// counts; if it does not occur, there is no target.
void find_targets(const TaskOptions& options, const int* tokens, int* targets);

// The bytes of a batch's tokens and targets, here and in JavaScript.
constexpr double batch_bytes(double tokens) { return bytes_of_ints(4 * tokens); }

}  // namespace superpose
