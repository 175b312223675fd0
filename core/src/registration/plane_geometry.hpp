// Geometric helpers that the steps of a registration share.
#pragma once

#include <warpalign/geometry.hpp>

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

/// The factor by which the transform scales lengths.
inline double scale_of(const Affine& m) { return std::sqrt(std::abs(m.a * m.e - m.b * m.d)); }

inline double larger_side(const Shape& shape) {
  return static_cast<double>(std::max(shape.width, shape.height));
}

inline double smaller_side(const Shape& shape) {
  return static_cast<double>(std::min(shape.width, shape.height));
}

/// The area of the smaller of two images, in pixels of the first, where lengths in the first are
/// `scale` times as long in the second.
inline double smaller_area(const Shape& first, const Shape& second, double scale) {
  return std::min(static_cast<double>(first.plane()),
                  static_cast<double>(second.plane()) / (scale * scale));
}

/// The shift of smallest magnitude that is equivalent to a position on a periodic axis, 0 to
/// `period`.
inline double signed_shift(double position, double period) {
  return position > period / 2 ? position - period : position;
}

}  // namespace warpalign::detail
