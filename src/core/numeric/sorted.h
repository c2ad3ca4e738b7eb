// The one sort of the library: of places, by any order. One place for it, because every std::sort() of
// another type or comparison is three to fourteen kilobytes of the module.
#pragma once

#include <vector>

namespace superpose {

// Whether place a comes before place b; `of` is what the places are of.
using Before = bool (*)(const void* of, int a, int b);

// Sorts the places so that the first `kept` are the first of all in order, and drops the rest.
void sort_places(std::vector<int>& places, std::size_t kept, const void* of, Before before);

// 0 .. count - 1, sorted by before(a, b); of them the first `kept`.
template <typename Order>
std::vector<int> sorted_places(int count, int kept, const Order& before) {
  std::vector<int> places(count);
  for (int place = 0; place < count; ++place) places[place] = place;
  sort_places(places, kept, &before,
              [](const void* of, int a, int b) { return (*static_cast<const Order*>(of))(a, b); });
  return places;
}

}  // namespace superpose
