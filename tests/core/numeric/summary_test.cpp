#include "numeric/summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace superpose {
namespace {

Vector<double> of(std::initializer_list<double> values) {
  Vector<double> vector(values.size());
  std::copy(values.begin(), values.end(), vector.data());
  return vector;
}

TEST(Summary, ByHand) {
  const auto odd = summary(of({-7, 2, 1}));
  EXPECT_NEAR(odd.mean, -4.0 / 3, 1e-15);
  EXPECT_NEAR(odd.mean_size, 10.0 / 3, 1e-15);
  EXPECT_EQ(odd.least, -7);
  EXPECT_EQ(odd.median, 1);
  EXPECT_EQ(odd.largest, 2);
  EXPECT_EQ(odd.largest_size, 7);
  // Squared distances from the mean: (17/3)^2, (10/3)^2 and (7/3)^2, which sum to 146/3.
  EXPECT_NEAR(odd.standard_deviation, std::sqrt(73.0 / 3), 1e-14);
  EXPECT_NEAR(summary(of({-7e300, 2e300, 1e300})).standard_deviation, std::sqrt(73.0 / 3) * 1e300, 1e287);
  EXPECT_NEAR(summary(of({-7e-300, 2e-300, 1e-300})).standard_deviation, std::sqrt(73.0 / 3) * 1e-300,
              1e-313);
  EXPECT_EQ(summary(of({2, 2})).standard_deviation, 0);
  // Their sum over three is not a tenth.
  EXPECT_EQ(summary(of({0.1, 0.1, 0.1})).standard_deviation, 0);
  EXPECT_TRUE(std::isnan(summary(of({4})).standard_deviation));
  EXPECT_EQ(summary(of({9, 1, 5, 2})).median, 3.5);
  EXPECT_EQ(summary(of({4})).median, 4);
  EXPECT_EQ(summary(of({2, 2})).median, 2);
}

// Their sums are out of range, but their statistics are not.
TEST(Summary, OfTheLargestNumbers) {
  const auto one = summary(of({-0x1.9p1023}));
  for (const double value : {one.mean, one.least, one.median, one.largest}) EXPECT_EQ(value, -0x1.9p1023);
  EXPECT_EQ(one.mean_size, 0x1.9p1023);
  const auto four = summary(of({0x1p1023, 0x1.8p1023, 0x1p1023, 0x1.8p1023}));
  EXPECT_EQ(four.mean, 0x1.4p1023);
  EXPECT_EQ(four.mean_size, 0x1.4p1023);
  EXPECT_EQ(four.median, 0x1.4p1023);
  EXPECT_NEAR(four.standard_deviation / 0x1p1023, 0.5 / std::sqrt(3), 1e-15);
  const auto apart = summary(of({-0x1p1023, 0x1p1023, 0x1p1023}));
  EXPECT_NEAR(apart.mean / 0x1p1023, 1.0 / 3, 1e-15);
  EXPECT_NEAR(apart.standard_deviation / 0x1p1023, 2 / std::sqrt(3), 1e-15);
  // Small numbers beside them keep their values.
  EXPECT_EQ(summary(of({0x1p-1074, 0x1p-1074, 0x1p1023})).median, 0x1p-1074);
}

TEST(Summary, OfNothing) {
  const auto none = summary(Vector<double>());
  for (double value : {none.mean, none.mean_size, none.least, none.median, none.largest, none.largest_size,
                       none.standard_deviation}) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_EQ(largest_difference({}, {}), 0);
}

TEST(Summary, LargestDifference) {
  EXPECT_EQ(largest_difference(of({1, 2, 3}), of({1, 6, 2})), 4);
  // At any place in the list.
  EXPECT_EQ(largest_difference(of({-7, 2, 3}), of({1, 6, 2})), 8);
  EXPECT_EQ(largest_difference(of({1, 2, 3}), of({1, 6, -2})), 5);
}

}  // namespace
}  // namespace superpose
