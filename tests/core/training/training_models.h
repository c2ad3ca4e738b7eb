// Models and batches for the tests of training.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "random_shapes.h"
#include "training/trainer.h"

namespace superpose {

struct BatchData {
  int sequences, n;
  std::vector<int> tokens, targets;

  Batch view() const { return {sequences, n, tokens.data(), targets.data()}; }
};

// Any ids, with a target at most of the places; the first place always has one.
inline BatchData any_batch(const ModelOptions& options, int sequences, int n, Shapes& shapes) {
  BatchData batch{sequences, n, {}, {}};
  for (int k = 0; k < sequences * n; ++k) {
    batch.tokens.push_back(shapes.between(0, options.vocabulary - 1));
    batch.targets.push_back(shapes.between(k == 0 ? 0 : -1, options.classes - 1));
  }
  return batch;
}

inline std::vector<TrainingScheme> all_schemes() {
  std::vector<TrainingScheme> schemes(names(TrainingScheme()).size());
  for (std::size_t k = 0; k < schemes.size(); ++k) schemes[k] = static_cast<TrainingScheme>(k);
  return schemes;
}

inline std::string name_of(TrainingScheme scheme) { return names(scheme)[static_cast<int>(scheme)]; }

}  // namespace superpose
