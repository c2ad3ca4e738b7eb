// Whether sanitizers watch, under which numbers cost ten times as much: the same ways through the code, fewer numbers.
#pragma once

namespace superpose {

#ifdef __has_feature
#define SUPERPOSE_SANITIZED __has_feature(address_sanitizer)
#else
#define SUPERPOSE_SANITIZED 0
#endif
constexpr bool kSanitized = SUPERPOSE_SANITIZED;

}  // namespace superpose
