// How rotary positions are stretched, as the typed API numbers it.
#pragma once

#include "convert.h"
#include "encodings/stretch.h"

namespace superpose {

// way, factor, trained, alpha and beta; undefined for none. Ways are numbered in the order of their declarations.
inline StretchOptions stretch_in(const Value& from) {
  if (from.isUndefined()) return {};
  const Vector<double> given = vector_in<double>(from);
  return {static_cast<Stretch>(static_cast<int>(given[0])), given[1], given[2], given[3], given[4]};
}

}  // namespace superpose
