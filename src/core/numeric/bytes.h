// How many bytes a call takes at most: its arguments in the module's memory, its working memory, and its
// results there and in JavaScript. Beside each function that needs more than its table stands one called
// NAME_bytes, which the typed API asks before it allocates anything. Sizes come and go as doubles, because
// what would not fit is asked for as well.
#pragma once

namespace superpose {

constexpr double bytes_of_doubles(double count) { return 8 * count; }
constexpr double bytes_of_floats(double count) { return 4 * count; }
constexpr double bytes_of_ints(double count) { return 4 * count; }

}  // namespace superpose
