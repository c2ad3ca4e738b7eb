#include "geometry/collisions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "random_shapes.h"

namespace superpose {
namespace {

double squared_distance(const Matrix<double>& tokens, int a, const Matrix<double>& positions, int i, int b) {
  double squared = 0;
  for (int c = 0; c < tokens.cols(); ++c) {
    const double x = tokens(a, c) + (i < 0 ? 0 : positions(i, c)) - tokens(b, c);
    squared += x * x;
  }
  return squared;
}

// Margins are half the difference of two squared distances; the nearest token has the smallest.
TEST(Collisions, NearestTokensAreThoseOfTheDefinition) {
  Shapes shapes(1);
  for (int trial = 0; trial < 20; ++trial) {
    const int vocabulary = shapes.between(2, 60), length = shapes.between(0, 7);
    const int d = shapes.between(1, 20);
    const Matrix<float> tokens = shapes.matrix(vocabulary, d).cast<float>();
    const Matrix<float> positions = shapes.matrix(length, d).cast<float>();
    const Matrix<double> e = tokens.cast<double>(), p = positions.cast<double>();
    const CollisionSearch search = collision_search(tokens, positions);
    const int first = shapes.between(0, vocabulary - 1);
    const NearestTokens found = nearest_tokens(search, first, vocabulary - first);
    // What float may confuse: products of length d of these sizes.
    const double rounding =
        4 * (d + 4) * 0x1p-24 *
        (e.rowwise().squaredNorm().maxCoeff() + (length ? p.rowwise().squaredNorm().maxCoeff() : 0));
    for (int a = first; a < vocabulary; ++a) {
      for (int i = -1; i < length; ++i) {
        double smallest = std::numeric_limits<double>::infinity();
        for (int b = 0; b < vocabulary; ++b) {
          if (b != a) smallest = std::min(smallest, squared_distance(e, a, p, i, b));
        }
        const int w = a - first;
        const int other = i < 0 ? found.bare[w] : found.nearest[w * length + i];
        ASSERT_NE(other, a);
        ASSERT_GE(other, 0);
        EXPECT_LE(squared_distance(e, a, p, i, other), smallest + rounding);
        if (i < 0) {
          EXPECT_NEAR(found.bare_distances[w], std::sqrt(squared_distance(e, a, p, -1, other)), 1e-13);
        } else {
          const double margin = (squared_distance(e, a, p, i, other) - squared_distance(e, a, p, i, a)) / 2;
          EXPECT_NEAR(found.margins(w, i), margin, 1e-12);
          EXPECT_NEAR(collision_margin(search, a, other, i), margin, 1e-12);
        }
      }
    }
  }
}

// Positions are the difference of two tokens, so e_0 + p is exactly e_1: the margin is minus half
// the squared distance. Half that difference is the boundary, where neither wins.
TEST(Collisions, MarginOnAndBeyondTheBoundary) {
  Matrix<float> tokens(2, 2), positions(3, 2);
  tokens << 0, 0, 2, 4;
  positions << 2, 4, 1, 2, -1, -2;
  const NearestTokens found = nearest_tokens(collision_search(tokens, positions), 0, 1);
  EXPECT_EQ(found.margins(0, 0), -10);
  EXPECT_EQ(found.margins(0, 1), 0);
  EXPECT_EQ(found.margins(0, 2), 20);
  EXPECT_DOUBLE_EQ(found.bare_distances[0], std::sqrt(20));
}

TEST(Collisions, EqualTokensNeverTakeEachOthersPlace) {
  Shapes shapes(3);
  Matrix<float> tokens = shapes.matrix(31, 65).cast<float>();
  tokens.row(30) = tokens.row(0);
  const NearestTokens found =
      nearest_tokens(collision_search(tokens, shapes.matrix(9, 65, 0.1).cast<float>()), 0, 31);
  EXPECT_EQ(found.bare[0], 30);
  EXPECT_EQ(found.bare[30], 0);
  EXPECT_EQ(found.bare_distances[0], 0);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(found.margins(0, i), 0);
}

TEST(Collisions, SlicesAreTheWhole) {
  Shapes shapes(4);
  const CollisionSearch search =
      collision_search(shapes.matrix(40, 8).cast<float>(), shapes.matrix(5, 8).cast<float>());
  const NearestTokens whole = nearest_tokens(search, 0, 40);
  for (int first = 0; first < 40; first += 13) {
    const int words = std::min(13, 40 - first);
    const NearestTokens slice = nearest_tokens(search, first, words);
    for (int w = 0; w < words; ++w) {
      EXPECT_EQ(slice.bare[w], whole.bare[first + w]);
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(slice.nearest[w * 5 + i], whole.nearest[(first + w) * 5 + i]);
        EXPECT_EQ(slice.margins(w, i), whole.margins(first + w, i));
      }
    }
  }
}

TEST(Collisions, OneTokenAndNone) {
  const Matrix<float> none(0, 3), position = Matrix<float>::Ones(2, 3);
  EXPECT_TRUE(nearest_tokens(collision_search(none, position), 0, 0).bare.empty());
  const CollisionSearch one = collision_search(Matrix<float>::Ones(1, 3), position);
  const NearestTokens found = nearest_tokens(one, 0, 1);
  EXPECT_EQ(found.bare[0], -1);
  EXPECT_EQ(found.nearest[1], -1);
  EXPECT_EQ(found.margins(0, 1), std::numeric_limits<double>::infinity());
}

// Random tables, 5000 tokens N(0, 1)^d and positions N(0, rho^2)^d: how often a token plus a position is
// nearer to another token. Expected errors and their deviations between positions were computed
// independently; a mean over 40 positions must be within four of its standard errors.
TEST(Collisions, RandomTablesCollideInFewDimensionsOnly) {
  struct Expected {
    int d;
    double rho, error, spread;
  };
  for (const auto& [d, rho, error, spread] : {Expected{8, 1, .937, .07},
                                              {16, 1, .679, .18},
                                              {32, 1, .138, .12},
                                              {64, 1, .0007, .002},
                                              {64, 2, .455, .13}}) {
    const int vocabulary = 5000, length = 40, words = 250;
    const CollisionSearch search = collision_search(random_normal<float>(vocabulary, d, 1, 17, 0),
                                                    random_normal<float>(length, d, rho, 17, 1));
    const NearestTokens found = nearest_tokens(search, 0, words);
    const double lost = (found.margins.array() < 0).cast<double>().mean();
    EXPECT_NEAR(lost, error, 4 * spread / std::sqrt(length)) << d << " " << rho;
  }
}

// d = 1: the direction of (u, v_1) is uniform on the circle, P = acos(1 / sqrt(1 + 2 r^2)) / pi =
// atan(sqrt(2) r) / pi.
TEST(Collisions, RandomOnesByTheCircle) {
  for (double scale : {0.0, 0.5, 1.0, 2.0}) {
    const auto found = random_collisions(1, scale, 11);
    EXPECT_NEAR(found.pair, std::atan(std::sqrt(2.0) * scale) / std::numbers::pi, 1e-13);
    EXPECT_NEAR(found.expected, 10 * found.pair, 1e-15);
  }
}

TEST(Collisions, BareMarginsAndLostWords) {
  Matrix<float> tokens(3, 1), positions(2, 1);
  tokens << 0, 1, 5;
  positions << 0, 2;
  const auto found = nearest_tokens(collision_search(tokens, positions), 0, 3);
  EXPECT_EQ(found.smallest_margins[0], -1.5);  // 0 + 2 against 1: 1/2 - 2
  EXPECT_EQ(found.bare_margins[0], 0.5);
  EXPECT_EQ(found.bare_margins[2], 8);
  EXPECT_EQ(found.lost[0], 0);  // nothing is added
  EXPECT_EQ(found.lost[1], 1);  // 0 + 2 is nearer to 1; 1 + 2 is as near to 1 as to 5; 5 + 2 to 5
}

}  // namespace
}  // namespace superpose
