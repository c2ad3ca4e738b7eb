// The first few in order are those of a full sort.
#include "numeric/sorted.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "random_shapes.h"

namespace superpose {
namespace {

TEST(SortedPlaces, AreTheFirstOfAllSorted) {
  Shapes shapes(1);
  for (int trial = 0; trial < 100; ++trial) {
    const int count = shapes.between(0, 12);
    const Matrix<double> values = shapes.integers(count, 1);
    // Equal values keep the order of their places.
    const auto before = [&](int a, int b) { return values(a) != values(b) ? values(a) < values(b) : a < b; };
    std::vector<int> all(count);
    for (int place = 0; place < count; ++place) all[place] = place;
    std::sort(all.begin(), all.end(), before);
    for (int size = 0; size <= count; ++size) {
      EXPECT_EQ(sorted_places(count, size, before), std::vector<int>(all.begin(), all.begin() + size));
    }
  }
}

}  // namespace
}  // namespace superpose
