#include "geometry/cosines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

#include "numeric/random.h"

namespace superpose {
namespace {

// In three dimensions t is uniform (Archimedes), in two it is the cosine of a uniform angle, in five its
// density is 3/4 (1 - t^2).
TEST(Cosines, LowDimensionsInClosedForm) {
  for (double t : {0.0, 0.1, 0.5, 0.9}) {
    EXPECT_NEAR(cosine_density(t, 2), 1 / (M_PI * std::sqrt(1 - t * t)), 1e-14);
    EXPECT_NEAR(cosine_density(-t, 3), 0.5, 1e-15);
    EXPECT_NEAR(cosine_density(t, 5), 0.75 * (1 - t * t), 1e-14);
    EXPECT_NEAR(cosine_tail(t, 2), 1 - 2 * std::asin(t) / M_PI, 1e-14);
    EXPECT_NEAR(cosine_tail(t, 3), 1 - t, 1e-14);
    EXPECT_NEAR(cosine_tail(t, 5), 1 - 1.5 * t + 0.5 * t * t * t, 1e-14);
    EXPECT_EQ(cosine_tail(t, 1), 1);
  }
  EXPECT_EQ(cosine_density(1, 3), 0.5);
  EXPECT_EQ(cosine_density(1, 5), 0);
  EXPECT_NEAR(cosine_mean_size(1), 1, 1e-15);
  EXPECT_NEAR(cosine_mean_size(2), 2 / M_PI, 1e-15);
  EXPECT_NEAR(cosine_mean_size(3), 0.5, 1e-15);
  for (int d : {1, 2, 64}) {
    EXPECT_EQ(cosine_tail(1, d), 0);
    EXPECT_EQ(cosine_tail(0, d), 1);
  }
}

// Integrals of the density by Simpson's rule: mass 1, variance 1/d, E|t| and the tail.
TEST(Cosines, DensityHasTheMomentsAndTheTail) {
  const int steps = 20000;
  for (int d : {7, 64, 768}) {
    const auto integral = [&](double from, auto weight) {
      const double h = (1 - from) / steps;
      double sum = 0;
      for (int i = 0; i <= steps; ++i) {
        const double t = from + i * h;
        sum += (i == 0 || i == steps ? 1 : i % 2 ? 4 : 2) * weight(t) * cosine_density(t, d);
      }
      return 2 * sum * h / 3;
    };
    EXPECT_NEAR(integral(0, [](double) { return 1.0; }), 1, 1e-11);
    EXPECT_NEAR(integral(0, [](double t) { return t * t; }), 1.0 / d, 1e-11);
    EXPECT_NEAR(integral(0, [](double t) { return t; }), cosine_mean_size(d), 1e-11);
    for (double epsilon : {0.01, 0.1, 0.2}) {
      const double tail = cosine_tail(epsilon, d);
      EXPECT_NEAR(integral(epsilon, [](double) { return 1.0; }) / tail, 1, 1e-8);
      EXPECT_LT(tail, 2 * std::exp(-d * epsilon * epsilon / 2));
    }
  }
}

// Published: E|t| = 0.0353 and 0.0288 (science.md, section 7).
TEST(Cosines, MeanSize) {
  EXPECT_NEAR(cosine_mean_size(512), 0.0353, 5e-5);
  EXPECT_NEAR(cosine_mean_size(768), 0.0288, 5e-5);
}

// Student's table: t sqrt(nu / (1 - t^2)) has nu = d - 1 degrees of freedom. Two-sided 5% points for
// 10 and 30 degrees are 2.228 and 2.042, the 1% point for 10 is 3.169.
TEST(Cosines, TailIsStudents) {
  const auto at = [](double quantile, int nu) {
    return cosine_tail(quantile / std::sqrt(nu + quantile * quantile), nu + 1);
  };
  EXPECT_NEAR(at(2.228, 10), 0.05, 2e-5);
  EXPECT_NEAR(at(2.042, 30), 0.05, 3e-5);
  EXPECT_NEAR(at(3.169, 10), 0.01, 5e-6);
}

// I_x(a, b) for whole a and b is a binomial tail (DLMF 8.17.5); I_x(a, 1) = x^a.
TEST(Cosines, IncompleteBetaOfWholeNumbers) {
  for (double x : {0.05, 0.3, 0.5, 0.8, 0.99}) {
    for (int a : {1, 3, 10}) {
      EXPECT_NEAR(incomplete_beta(x, 1 - x, a, 1), std::pow(x, a), 1e-14);
      for (int b : {2, 7}) {
        const int n = a + b - 1;
        double tail = 0;
        for (int j = a; j <= n; ++j) {
          tail += std::exp(std::lgamma(n + 1) - std::lgamma(j + 1) - std::lgamma(n - j + 1)) *
                  std::pow(x, j) * std::pow(1 - x, n - j);
        }
        EXPECT_NEAR(incomplete_beta(x, 1 - x, a, b), tail, 1e-13);
      }
    }
  }
  EXPECT_EQ(incomplete_beta(0, 1, 2, 3), 0);
  EXPECT_EQ(incomplete_beta(1, 0, 2, 3), 1);
}

// science.md, section 7.
TEST(Cosines, LargestOfManyPairs) {
  EXPECT_NEAR(largest_cosine_median(512.0 * 30522, 768), 0.196, 5e-4);
  EXPECT_NEAR(largest_cosine_median(1024.0 * 50257, 768), 0.203, 5e-4);
  EXPECT_NEAR(largest_cosine_median(2000.0 * 1999 / 2, 512), 0.223, 5e-4);
  for (double m : {1.0, 100.0, 1e9}) {
    const double tau = largest_cosine_median(m, 64);
    EXPECT_NEAR(m * cosine_tail(tau, 64), std::log(2), 1e-9);
  }
}

// 20,000 pairs: 1/d within 3% (its standard error is 1%), and E|t| within four standard errors.
TEST(Cosines, SamplesFollowTheLaw) {
  const int count = 20000;
  for (int d : {16, 64}) {
    const auto t = sample_cosines(d, count, 1);
    EXPECT_NEAR(t.squaredNorm() / count * d, 1, 0.03);
    EXPECT_NEAR(t.mean(), 0, 4 / std::sqrt(d * 1.0 * count));
    EXPECT_NEAR(t.cwiseAbs().mean() / cosine_mean_size(d), 1, 4 * 0.76 / std::sqrt(count));
    const double beyond = (t.array().abs() > 0.2).cast<double>().mean();
    const double tail = cosine_tail(0.2, d);
    EXPECT_NEAR(beyond, tail, 4 * std::sqrt(tail * (1 - tail) / count));
  }
}

TEST(Cosines, SamplesAreThoseOfTheSeed) {
  const auto t = sample_cosines(5, 3, 7);
  const auto u = random_normal<double>(3, 5, 1, 7, 0), v = random_normal<double>(3, 5, 1, 7, 1);
  for (int i = 0; i < 3; ++i) {
    double uv = 0, uu = 0, vv = 0;
    for (int k = 0; k < 5; ++k) {
      uv += u(i, k) * v(i, k);
      uu += u(i, k) * u(i, k);
      vv += v(i, k) * v(i, k);
    }
    EXPECT_NEAR(t[i], uv / std::sqrt(uu * vv), 1e-15);
  }
  EXPECT_NE(sample_cosines(5, 3, 8), t);
  EXPECT_EQ(sample_cosines(5, 0, 7).size(), 0);
  EXPECT_NEAR(std::abs(sample_cosines(1, 1, 7)[0]), 1, 1e-15);
}

}  // namespace
}  // namespace superpose
