#include "encodings/relative_position.h"

#include <gtest/gtest.h>

#include <cmath>

namespace superpose {
namespace {

TEST(RelativePosition, ClippedOffsetsByHand) {
  Indices expected(4, 4);
  expected << 1, 2, 2, 2, 0, 1, 2, 2, 0, 0, 1, 2, 0, 0, 0, 1;
  EXPECT_EQ(clipped_offsets(4, 1), expected);
  EXPECT_EQ(clipped_offsets(3, 0), Indices::Zero(3, 3));
  EXPECT_EQ(clipped_offsets(0, 2).size(), 0);
}

TEST(RelativePosition, DebertaDistancesByHand) {
  // k = 2: i - j = -3 .. 3 gives 0 0 1 2 3 3 3; the range is not symmetric.
  Indices expected(4, 4);
  expected << 2, 1, 0, 0, 3, 2, 1, 0, 3, 3, 2, 1, 3, 3, 3, 2;
  EXPECT_EQ(deberta_distances(4, 2), expected);
}

// Distances at which each bucket of 32/128 begins, from the definition in exact arithmetic:
// bidirectional, bucket 8 + s begins at the first d with (d/8)^8 >= 16^s, that is d^2 >= 64 * 2^s.
TEST(RelativePosition, T5BucketsAreTheDefinition) {
  const T5Options both{true, 32, 128}, one{false, 32, 128};
  for (int distance = 0; distance < 400; ++distance) {
    int expected = distance;
    if (distance >= 8) {
      expected = 8;
      while (expected < 15 && distance * distance >= (64 << (expected - 7))) ++expected;
    }
    EXPECT_EQ(t5_bucket(-distance, both), expected) << distance;
    if (distance) {
      EXPECT_EQ(t5_bucket(distance, both), 16 + expected) << distance;
    }

    // One-directional: bucket 16 + s begins where (d/16)^16 >= 8^s.
    expected = distance;
    if (distance >= 16) {
      expected = 16;
      while (expected < 31 &&
             std::pow(distance / 16.0L, 16) >= std::pow(8.0L, expected - 15) * (1 - 1e-15L)) {
        ++expected;
      }
    }
    EXPECT_EQ(t5_bucket(-distance, one), expected) << distance;
    EXPECT_EQ(t5_bucket(distance, one), 0);
  }
  // Where a bucket begins exactly at a power, the lower one ends just before.
  for (const auto& [distance, bucket] : {std::pair{16, 10}, {32, 12}, {64, 14}}) {
    EXPECT_EQ(t5_bucket(-distance, both), bucket);
    EXPECT_EQ(t5_bucket(1 - distance, both), bucket - 1);
  }
  EXPECT_EQ(t5_bucket(-128, both), 15);
  EXPECT_EQ(t5_bucket(1'000'000, both), 31);
  EXPECT_EQ(t5_bucket(-1'000'000, one), 31);
}

TEST(RelativePosition, T5MatrixHasKeysAfterTheQueryInTheUpperHalf) {
  const Indices buckets = t5_buckets(3, {true, 32, 128});
  Indices expected(3, 3);
  expected << 0, 17, 18, 1, 0, 17, 2, 1, 0;
  EXPECT_EQ(buckets, expected);
  expected << 0, 0, 0, 1, 0, 0, 2, 1, 0;
  EXPECT_EQ(t5_buckets(3, {false, 32, 128}), expected);
}

TEST(RelativePosition, TupeBucketsGiveClsItsOwn) {
  Indices expected(3, 3);
  expected << 16, 16, 16, 32, 0, 17, 32, 1, 0;
  EXPECT_EQ(tupe_buckets(3, {true, 32, 128}), expected);
  EXPECT_EQ(tupe_buckets(0, {true, 32, 128}).size(), 0);
  // The first bucket of the upper half is free: no offset falls into it.
  for (int offset = -500; offset <= 500; ++offset) EXPECT_NE(t5_bucket(offset, {}), 16);
}

TEST(RelativePosition, AlibiSlopes) {
  const auto near = [](const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t h = 0; h < found.size(); ++h) EXPECT_NEAR(found[h], expected[h], 1e-16);
  };
  // Section 3: for 8 heads 1/2, 1/4, ... 1/256; for 16, 2^-0.5, 2^-1, 2^-1.5, ...
  near(alibi_slopes(8), {1 / 2., 1 / 4., 1 / 8., 1 / 16., 1 / 32., 1 / 64., 1 / 128., 1 / 256.});
  near(alibi_slopes(1), {1 / 256.});
  const auto sixteen = alibi_slopes(16);
  for (int h = 1; h <= 16; ++h) EXPECT_NEAR(sixteen[h - 1], std::pow(2, -h / 2.0), 1e-16);
  // 12 heads: the eight of 8, and the first, third, fifth and seventh of 16.
  const auto twelve = alibi_slopes(12);
  const auto eight = alibi_slopes(8);
  for (int h = 0; h < 8; ++h) EXPECT_EQ(twelve[h], eight[h]);
  for (int h = 0; h < 4; ++h) EXPECT_EQ(twelve[8 + h], sixteen[2 * h]);
  near(alibi_slopes(3), {1 / 16., 1 / 256., 1 / 4.});
  EXPECT_TRUE(alibi_slopes(0).empty());
}

}  // namespace
}  // namespace superpose
