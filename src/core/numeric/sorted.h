// The library's only sort, which sorts indices by any comparison. Every further std::sort(), for another type
// or comparison, would add three to fourteen kilobytes to the module.
#pragma once

#include <algorithm>
#include <vector>

namespace superpose {

// Whether index a comes before index b; `of` is what the indices point into.
using Before = bool (*)(const void* of, int a, int b);

// Leaves the first `size` of these indices, in order, and drops the rest.
inline void sort_places(std::vector<int>& places, std::size_t size, const void* of, Before before) {
  const auto ordered = [=](int a, int b) { return before(of, a, b); };
  const auto end = places.begin() + size;
  // A heap of the first `size` indices so far, with the last of them on top. Any later index that comes
  // before that one replaces it.
  std::make_heap(places.begin(), end, ordered);
  for (auto next = end; next != places.end(); ++next) {
    if (size == 0 || !ordered(*next, places.front())) continue;
    std::pop_heap(places.begin(), end, ordered);
    *(end - 1) = *next;
    std::push_heap(places.begin(), end, ordered);
  }
  std::sort_heap(places.begin(), end, ordered);
  places.resize(size);
}

// The first `size` of 0 .. count - 1, sorted by before(a, b).
template <typename Order>
std::vector<int> sorted_places(int count, int size, const Order& before) {
  std::vector<int> places(count);
  for (int place = 0; place < count; ++place) places[place] = place;
  sort_places(places, size, &before,
              [](const void* of, int a, int b) { return (*static_cast<const Order*>(of))(a, b); });
  return places;
}

}  // namespace superpose
