// Extents of images as the integers that kernels index with.
#pragma once

#include <warpalign/error.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace warpalign::backend {

/// Converts an extent to int. Throws Error(invalid_argument), with the ErrorContext that `where()`
/// returns, above 2^29: this limit allows adding a tile without overflow.
template <class Where>
[[nodiscard]] int checked_extent(std::int64_t n, const Where& where) {
  constexpr std::int64_t limit = std::int64_t{1} << 29;
  if (n >= 0 && n <= limit) return static_cast<int>(n);
  ErrorContext context = where();
  context.advice = "cut the image into tiles";
  throw Error(ErrorKind::invalid_argument,
              std::to_string(n) + " pixels along an axis are not between 0 and 2^29",
              std::move(context));
}

}  // namespace warpalign::backend
