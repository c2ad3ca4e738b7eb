// A run that diverges is noticed, and the learning rate warms up and falls.
#include "training/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "training_models.h"

namespace superpose {
namespace {

// The loss is finite, but the square of its gradient is not.
TEST(Trainer, DivergesWithItsGradient) {
  Trainer trainer({}, {}, 1);
  Examples examples({}, 4, 1, Examples::training);
  trainer.parameters().W_u *= 1e22f;
  const Matrix<float> before = trainer.parameters().W_u;
  EXPECT_TRUE(std::isfinite(trainer.step(examples.next())));
  EXPECT_TRUE(trainer.diverged());
  EXPECT_EQ(trainer.parameters().W_u, before);
}

TEST(Trainer, LearningRateWarmsUpAndFalls) {
  OptimizerOptions options;
  EXPECT_NEAR(learning_rate(options, 1), 5e-3 / 20, 1e-6);
  EXPECT_NEAR(learning_rate(options, 100), 5e-3 * 0.55, 1e-15);
  EXPECT_NEAR(learning_rate(options, 200), 5e-4, 1e-15);
  EXPECT_EQ(learning_rate(options, 300), learning_rate(options, 200));
  options.warm_up = 0;
  EXPECT_NEAR(learning_rate(options, 1), 5e-3, 1e-6);
  options.warm_up = 20;
  options.schedule = Schedule::constant;
  EXPECT_NEAR(learning_rate(options, 10), 5e-3 / 2, 1e-15);
  for (const int step : {20, 200, 16000}) EXPECT_EQ(learning_rate(options, step), 5e-3);
}

}  // namespace
}  // namespace superpose
