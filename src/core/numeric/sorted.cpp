#include "numeric/sorted.h"

#include <algorithm>

namespace superpose {

void sort_places(std::vector<int>& places, std::size_t kept, const void* of, Before before) {
  const auto ordered = [=](int a, int b) { return before(of, a, b); };
  const auto end = places.begin() + kept;
  // A heap of the places kept. The last in order is on top, where an earlier one replaces it.
  std::make_heap(places.begin(), end, ordered);
  for (auto next = end; next != places.end(); ++next) {
    if (kept == 0 || !ordered(*next, places.front())) continue;
    std::pop_heap(places.begin(), end, ordered);
    *(end - 1) = *next;
    std::push_heap(places.begin(), end, ordered);
  }
  std::sort_heap(places.begin(), end, ordered);
  places.resize(kept);
}

}  // namespace superpose
