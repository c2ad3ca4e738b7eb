// Whether sanitizers are on: numbers then cost ten times as much, so tests use fewer on the same paths.
#pragma once

namespace superpose {

#ifdef __has_feature
#define SUPERPOSE_SANITIZED __has_feature(address_sanitizer)
#else
#define SUPERPOSE_SANITIZED 0
#endif
constexpr bool kSanitized = SUPERPOSE_SANITIZED;

}  // namespace superpose
