// Steps a second of the recommended model, on whatever this was compiled for: bench [task] [mlp].
// The best of many short stretches, because other programs only ever slow it down.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "training/trainer.h"

using namespace superpose;

int main(int argc, char** argv) {
  const TaskOptions task{static_cast<Task>(argc > 1 ? std::atoi(argv[1]) : 1), 16, 0, 1};
  ModelOptions options;
  options.vocabulary = task.vocabulary();
  options.classes = task.classes();
  options.mlp = argc > 2 && std::atoi(argv[2]);
  Examples examples(task, 32, 1, Examples::training);
  Trainer<float> trainer(options, {}, 1);
  double best = 0;
  const int stretch = 5;
  for (int run = 0; run < 600; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int s = 0; s < stretch; ++s) trainer.step(examples.next());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, stretch / took.count());
  }
  std::printf("%.0f steps/s, the best of 600 stretches of %d\n", best, stretch);
}
