// How many bytes a call takes at most: its arguments in the module's memory, its working memory, and its
// results there and in JavaScript. Each function that needs more than its table has a function called
// NAME_bytes beside it, which the typed API calls before it allocates anything. Counts and sizes are doubles,
// because the API also asks about calls that would not fit into memory.
#pragma once

namespace superpose {

constexpr double bytes_of_doubles(double count) { return 8 * count; }
constexpr double bytes_of_floats(double count) { return 4 * count; }
constexpr double bytes_of_ints(double count) { return 4 * count; }

}  // namespace superpose
