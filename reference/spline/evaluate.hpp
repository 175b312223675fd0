// The oracle of interpolation: a spline at any point (Ruijters et al., equation 1).
#pragma once

#include "reference/spline/spline.hpp"

#include <array>

namespace reference {

template <class T>
struct ValueOf {
  T value{};
  std::array<T, 3> gradient{};
};

/// s(p) and its gradient, p = (x, y, z); axes beyond `dimensions` are ignored.
template <class T>
ValueOf<T> evaluate(const SplineOf<T>& spline, const std::array<double, 3>& p);

}  // namespace reference
