#include "encodings/wavelengths.h"

#include <gtest/gtest.h>

#include <cmath>

#include "encodings/layouts.h"
#include "random_shapes.h"

namespace superpose {
namespace {

Wavelengths paper(int positions, int d, double base, int farthest) {
  return wavelengths({positions, d, Layout::interleaved, Spacing::d_model, base, 0}, farthest);
}

// The integral of (1 - cos u) / u from 0 to x <= 1, by its series. At 1 it is Euler's constant less Ci(1).
double cosine_integral(double x) {
  double sum = 0, term = 1;
  for (int k = 1; k < 12; ++k) {
    term *= -x * x / (2 * k * (2 * k - 1));
    sum -= term / (2 * k);
  }
  return sum;
}

struct Expected {
  double base, nearest;
  int falls_to, first_negative, below_one_turn;
};

// 512 positions of 512 channels, by a plain double loop over cosines in another language.
TEST(Wavelengths, WhatTheBaseBuysAt512By512) {
  for (const auto& [base, nearest, falls_to, first_negative, below] :
       {Expected{10, .46, 6, 5, 0}, Expected{1e4, .23, 43, 3284, 133}, Expected{1e6, .19, 24, 0, 174}}) {
    const Wavelengths found = paper(512, 512, base, 20000);
    EXPECT_NEAR(found.nearest, nearest, .005) << base;
    EXPECT_EQ(found.nearest_apart, 1) << base;
    EXPECT_EQ(found.falls_to, falls_to) << base;
    EXPECT_EQ(found.first_negative, first_negative) << base;
    EXPECT_EQ(found.below_one_turn, below) << base;
  }
}

TEST(Wavelengths, ManyPairsComeNearTheClosedForms) {
  EXPECT_NEAR(2 * cosine_integral(1), .48, .0005);
  for (double base : {10., 100., 1e4, 1e6}) {
    const Wavelengths found = paper(512, 4096, base, 512);
    const double integral = cosine_integral(1) - cosine_integral(1 / base);
    EXPECT_NEAR(found.nearest, std::sqrt(2 * integral / std::log(base)), .001) << base;
    EXPECT_NEAR(found.nearest, std::sqrt(.48 / std::log(base)), .003) << base;
    const double part = std::fmax(0, 1 - std::log(512 / (2 * EIGEN_PI)) / std::log(base));
    EXPECT_NEAR(found.below_one_turn / 2048.0, part, 1 / 2048.0) << base;
  }
}

// The definitions, on tables of rows, in every layout and spacing.
TEST(Wavelengths, AreThoseOfTheTablesRows) {
  for (Layout layout : kLayouts) {
    for (Spacing spacing : kSpacings) {
      for (double base : {1.5, 30., 10000.}) {
        for (int d : {2, 6, 32}) {
          const SinusoidalOptions options{60, d, layout, spacing, base, 0};
          const Wavelengths found = wavelengths(options, 59);
          const Matrix<double> table = sinusoidal<double>(options);
          double nearest = 1e300;
          for (int p = 0; p < 60; ++p) {
            for (int q = 0; q < p; ++q) {
              EXPECT_NEAR(table.row(p).dot(table.row(q)) / (d / 2), found.similarity[p - q], 1e-13);
              nearest = std::fmin(nearest, (table.row(p) - table.row(q)).norm() / table.row(p).norm());
            }
          }
          // The distance is a root: near 0 it doubles the digits that are lost.
          EXPECT_NEAR(found.nearest, nearest, 1e-7);
          const std::vector<double> w = sinusoidal_frequencies(options);
          for (int i = 0; i < d / 2; ++i) EXPECT_NEAR(found.lengths[i] * w[i], 2 * EIGEN_PI, 1e-13);
        }
      }
    }
  }
}

// One pair is a clock: s(k) = cos k. It falls to 3, is negative from 2 on, and 22 / 7 brings 44 next to 0.
TEST(Wavelengths, OnePairIsAClock) {
  const Wavelengths found = paper(60, 2, 10000, 60);
  EXPECT_EQ(found.falls_to, 3);
  EXPECT_EQ(found.first_negative, 2);
  EXPECT_EQ(found.nearest_apart, 44);
  EXPECT_NEAR(found.nearest, 2 * std::abs(std::sin(22)), 1e-13);
  EXPECT_EQ(found.below_one_turn, 0);
  EXPECT_EQ(paper(6, 2, 10000, 6).below_one_turn, 1);
}

TEST(Wavelengths, OnePositionHasNoNeighbour) {
  const Wavelengths found = paper(1, 8, 100, 0);
  EXPECT_TRUE(std::isnan(found.nearest));
  EXPECT_EQ(found.nearest_apart, 0);
  EXPECT_EQ(found.similarity.size(), 1);
  EXPECT_EQ(found.falls_to, 0);
}

// Turning on from distance to distance keeps ten digits to the last distance.
TEST(Wavelengths, SimilaritiesAtGreatDistances) {
  const Wavelengths found = paper(2, 64, 1e5, 20000);
  for (int k : {1, 999, 10007, 20000}) {
    double sum = 0;
    for (int i = 0; i < 32; ++i) sum += std::cos(k * std::pow(1e5, -i / 32.0));
    EXPECT_NEAR(found.similarity[k], sum / 32, 1e-11);
  }
}

}  // namespace
}  // namespace superpose
