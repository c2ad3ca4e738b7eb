#include "training/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <new>

#include "sanitized.h"
#include "training_models.h"

namespace {
int allocations = 0;
}

// Counts every allocation of this program. Inlined, GCC would mistake a new here for another's delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const held = std::malloc(size ? size : 1)) return held;
  std::abort();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const std::size_t align = static_cast<std::size_t>(alignment);
  if (void* const held = std::aligned_alloc(align, (size + align - 1) / align * align)) return held;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* held) noexcept { std::free(held); }
[[gnu::noinline]] void operator delete(void* held, std::size_t) noexcept { std::free(held); }
[[gnu::noinline]] void operator delete(void* held, std::align_val_t) noexcept { std::free(held); }
[[gnu::noinline]] void operator delete(void* held, std::size_t, std::align_val_t) noexcept {
  std::free(held);
}

namespace superpose {
namespace {

TEST(Trainer, StepsAndEvaluationsAllocateNothing) {
  for (const TrainingScheme scheme : kSchemes) {
    ModelOptions options;
    options.scheme = scheme;
    options.layers = 2;
    const int before_all = allocations;
    Trainer<float> trainer(options, {}, 1);
    Examples examples({}, kSanitized ? 4 : 32, 1, Examples::training);
    std::vector<TermCovariances> heads(options.heads);
    ASSERT_GT(allocations, before_all);
    const int before = allocations;
    for (int s = 0; s < 3; ++s) {
      const Batch batch = examples.next();
      trainer.step(batch);
      trainer.evaluate(batch);
      if (!options.has_terms()) continue;
      trainer.evaluate(batch, {true, false, true, false});
      trainer.keep({true, false, true, true});
      trainer.step(batch);
      trainer.keep(kAllTerms);
      trainer.model().term_covariances(trainer.parameters(), batch, heads.data());
      if (!options.in_stream()) continue;
      trainer.model().term_covariances(trainer.parameters(), batch, heads.data(), kAllTerms,
                                       TermGauge::canonical);
    }
    EXPECT_EQ(allocations, before) << name_of(scheme);
  }
}

TEST(Trainer, TheSameSeedIsTheSameCurve) {
  const int steps = kSanitized ? 10 : 100;
  const auto curve = [&](auto scalar, std::uint32_t seed) {
    Trainer<decltype(scalar)> trainer({}, {}, seed);
    Examples examples({}, 32, seed, Examples::training);
    Vector<double> losses(steps);
    for (double& loss : losses) loss = trainer.step(examples.next());
    return losses;
  };
  const Vector<double> losses = curve(0.0f, 1);
  EXPECT_EQ(losses, curve(0.0f, 1));
  EXPECT_NE(losses, curve(0.0f, 2));
  // As in double up to rounding, which training does not amplify.
  EXPECT_LT(max_abs(losses - curve(0.0, 1)), 1e-4);
  if (kSanitized) return;
  EXPECT_LT(losses[99], 0.1 * losses[0]);
}

TEST(Trainer, ADivergedRunStopsWhereItWas) {
  Trainer<float> trainer({}, {}, 1);
  Examples examples({}, 4, 1, Examples::training);
  const Batch batch = examples.next();
  trainer.step(batch);
  EXPECT_FALSE(trainer.diverged());
  const Parameter& tokens = *trainer.layout().find("E");
  for (Eigen::Index k = 0; k < tokens.size(); ++k) trainer.parameters()[tokens.offset + k] = std::nanf("");
  const float before = trainer.parameters()[trainer.layout().find("W_u")->offset];
  EXPECT_TRUE(std::isnan(trainer.step(batch)));
  EXPECT_TRUE(trainer.diverged());
  EXPECT_EQ(trainer.steps(), 1);
  EXPECT_EQ(trainer.parameters()[trainer.layout().find("W_u")->offset], before);
}

// A loss that is finite, of a gradient whose square is not.
TEST(Trainer, DivergesWithItsGradient) {
  Trainer<float> trainer({}, {}, 1);
  Examples examples({}, 4, 1, Examples::training);
  const Parameter& last = *trainer.layout().find("W_u");
  for (Eigen::Index k = 0; k < last.size(); ++k) trainer.parameters()[last.offset + k] *= 1e22f;
  const float before = trainer.parameters()[last.offset];
  EXPECT_TRUE(std::isfinite(trainer.step(examples.next())));
  EXPECT_TRUE(trainer.diverged());
  EXPECT_EQ(trainer.parameters()[last.offset], before);
}

TEST(Trainer, LearningRateWarmsUpAndFalls) {
  OptimizerOptions options;
  EXPECT_NEAR(learning_rate(options, 1), 5e-3 / 20, 1e-6);
  EXPECT_NEAR(learning_rate(options, 100), 5e-3 * 0.55, 1e-15);
  EXPECT_NEAR(learning_rate(options, 200), 5e-4, 1e-15);
  EXPECT_EQ(learning_rate(options, 300), learning_rate(options, 200));
  options.warm_up = 0;
  EXPECT_NEAR(learning_rate(options, 1), 5e-3, 1e-6);
}

}  // namespace
}  // namespace superpose
