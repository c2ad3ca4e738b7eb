// Steps a second of the recommended model: bench [task] [seconds].
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
  const Batch batch = examples.next();
  double best = 0;
  for (int run = 0; run < 15; ++run) {
    Trainer<float> trainer(options, {}, 1);
    const auto start = std::chrono::steady_clock::now();
    for (int s = 0; s < 200; ++s) trainer.step(batch);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, 200 / took.count());
  }
  std::printf("%.0f steps/s, the best of 15 runs of 200\n", best);
}
