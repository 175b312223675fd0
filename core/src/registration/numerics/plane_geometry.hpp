// Plane geometry that the steps of a registration share.
#pragma once

#include "formulas/plane_maps.h"

#include <warpalign/geometry.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace warpalign::detail {

/// The weight from which a pixel is not masked. Weights are sums of rounded numbers.
inline constexpr float full_weight = 0.999F;

/// The factor by which the transform scales lengths.
inline double scale_of(const Affine& m) { return std::sqrt(std::abs(m.a * m.e - m.b * m.d)); }

/// The same homography, scaled so that its last element is 1, unless that element is 0.
inline Homography scaled(const Homography& m) {
  if (m.is_affine() || m.h[8] == 0) return m;
  Homography result = m;
  for (double& value : result.h) value /= m.h[8];
  return result;
}

/// Whether the transform maps no point of `shape` to infinity: the divisor w has the same sign at
/// all corners, and its smallest magnitude is more than `min_ratio` times its largest.
inline bool is_regular(const Homography& m, const Shape& shape,
                       double min_ratio = WA_MIN_DIVISOR_RATIO) {
  const auto right = static_cast<double>(shape.width - 1);
  const auto bottom = static_cast<double>(shape.height - 1);
  const double* h = m.h.data();
  const std::array<double, 4> divisors{wa_divisor(h, 0, 0), wa_divisor(h, right, 0),
                                       wa_divisor(h, 0, bottom), wa_divisor(h, right, bottom)};
  return wa_divisors_agree(divisors.data(), min_ratio) != 0;
}

/// A faster Homography::operator(), with the linear part of Homography::affine_at(), for loops over
/// many transforms and points: it is inline and divides once.
struct LocalMap {
  double w;
  Point place;
  double a, b, d, e;  ///< as in Affine

  LocalMap(const Homography& m, Point p) : w(m.h[6] * p.x + m.h[7] * p.y + m.h[8]) {
    const double inverse = 1 / w;
    place = {(m.h[0] * p.x + m.h[1] * p.y + m.h[2]) * inverse,
             (m.h[3] * p.x + m.h[4] * p.y + m.h[5]) * inverse};
    a = (m.h[0] - place.x * m.h[6]) * inverse;
    b = (m.h[1] - place.x * m.h[7]) * inverse;
    d = (m.h[3] - place.y * m.h[6]) * inverse;
    e = (m.h[4] - place.y * m.h[7]) * inverse;
  }
  [[nodiscard]] Affine linear() const { return {a, b, 0, d, e, 0}; }
  /// The factor by which the map scales areas; negative if it mirrors the plane.
  [[nodiscard]] double area() const { return a * e - b * d; }
};

inline double square(double value) { return value * value; }

inline double length(Point p) { return std::hypot(p.x, p.y); }

inline double squared_distance(Point a, Point b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

inline bool is_inside(Point p, const Shape& shape) {
  return p.x >= 0 && p.y >= 0 && p.x <= static_cast<double>(shape.width - 1) &&
         p.y <= static_cast<double>(shape.height - 1);
}

/// The number of steps along each axis of a grid of 17 x 17 points that covers an image evenly,
/// including its corners.
inline constexpr int grid_steps = 16;

/// The position of a grid point along an axis of `size` pixels.
inline double grid_position(std::int64_t size, int step) {
  return static_cast<double>(size - 1) * step / grid_steps;
}

/// Visits the grid's points on `shape`.
template <class Visit>
void for_each_grid_point(const Shape& shape, const Visit& visit) {
  for (int y = 0; y <= grid_steps; ++y) {
    for (int x = 0; x <= grid_steps; ++x) {
      visit(Point{grid_position(shape.width, x), grid_position(shape.height, y)});
    }
  }
}

inline double larger_side(const Shape& shape) {
  return static_cast<double>(std::max(shape.width, shape.height));
}

inline double smaller_side(const Shape& shape) {
  return static_cast<double>(std::min(shape.width, shape.height));
}

/// The numbers of unmasked pixels of a pair.
struct UnmaskedPixels {
  double reference = 0, moving = 0;

  /// The smaller of the areas, in reference pixels. `scale`: moving pixels per reference pixel.
  [[nodiscard]] double smaller_area(double scale) const {
    return std::min(reference, moving / (scale * scale));
  }
};

/// A position on a periodic axis, from 0 to `period`.
inline double modulo(double position, double period) {
  return position - period * std::floor(position / period);
}

/// The shift of smallest magnitude that corresponds to a position from 0 to `period` on a periodic
/// axis.
inline double signed_shift(double position, double period) {
  return position > period / 2 ? position - period : position;
}

}  // namespace warpalign::detail
