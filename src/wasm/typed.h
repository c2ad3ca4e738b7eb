// What a value is to TypeScript: Typed<"Float64Array">, a class for each, which embind names in its declarations.
#pragma once

#include <cstddef>

#include "value.h"

namespace superpose {

// Literals as template arguments.
template <std::size_t size>
struct Text {
  char text[size] = {};

  constexpr Text() = default;
  constexpr Text(const char (&from)[size]) {
    for (std::size_t at = 0; at < size; ++at) text[at] = from[at];
  }
};

template <Text type>
struct Typed : Value {
  Typed(const emscripten::val& value) : Value(value) { (void)registered; }

  static inline const bool registered = (emscripten::register_type<Typed>(type.text), true);
};

}  // namespace superpose
