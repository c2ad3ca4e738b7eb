// Whether sanitizers are on. They make numbers ten times as slow, so tests take the same paths with fewer
// numbers.
#pragma once

namespace superpose {

#ifdef __has_feature
#define SUPERPOSE_SANITIZED __has_feature(address_sanitizer)
#else
#define SUPERPOSE_SANITIZED 0
#endif
constexpr bool kSanitized = SUPERPOSE_SANITIZED;

}  // namespace superpose
