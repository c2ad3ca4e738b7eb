// What a value is to TypeScript: Typed<"Float64Array">. The modules know one class for all, so that types cost them no
// byte. What is compiled for the declarations alone (SUPERPOSE_DECLARATIONS) has one for each, which embind then names.
#pragma once

#include <cstddef>

#include "value.h"

namespace superpose {

// Literals as template arguments.
template <std::size_t size>
struct Text {
  char text[size];

  constexpr Text(const char (&from)[size]) {
    for (std::size_t at = 0; at < size; ++at) text[at] = from[at];
  }
};

#ifdef SUPERPOSE_DECLARATIONS
template <Text type>
struct Typed : Value {
  Typed(const emscripten::val& value) : Value(value) { (void)registered; }

  static inline const bool registered = (emscripten::register_type<Typed>(type.text), true);
};
#else
template <Text type>
using Typed = Value;
#endif

}  // namespace superpose
