// The oracle of conversions between pixel types, by the compiler's own arithmetic.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace reference {

/// The value as a pixel of type T: the nearest one, for integers with halves away from zero,
/// saturated, and 0 for NaN.
template <class T>
T converted(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(value)) return 0;
    constexpr auto lowest = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto highest = static_cast<double>(std::numeric_limits<T>::max());
    const double nearest = std::round(value);
    if (nearest <= lowest) return std::numeric_limits<T>::min();
    if (nearest >= highest) return std::numeric_limits<T>::max();
    return static_cast<T>(nearest);
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace reference
