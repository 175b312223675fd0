// Small changes of a tile's transform, by the kind of motion that tiles may have.
#pragma once

#include "registration/numerics/plane_geometry.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace warpalign::detail {

/// Transforms near the identity with few parameters, about the middle of an array of pixels. A
/// parameter of 1 moves the ends of the longer side by about a pixel, or everything by one.
class TileMotion {
 public:
  static constexpr std::size_t max_parameters = 8;
  /// What a parameter of 1 adds to the place of a point.
  using Columns = std::array<Point, max_parameters>;

  /// `motion`: rigid, similarity or homography.
  TileMotion(Motion motion, const Shape& shape)
      : motion_(motion),
        center_{static_cast<double>(shape.width - 1) / 2,
                static_cast<double>(shape.height - 1) / 2},
        radius_(larger_side(shape) / 2) {}

  [[nodiscard]] std::size_t parameters() const {
    return motion_ == Motion::rigid ? 3 : motion_ == Motion::similarity ? 4 : max_parameters;
  }
  [[nodiscard]] const Point& center() const { return center_; }

  /// The derivatives of the place of a point by the parameters, at the identity.
  [[nodiscard]] Columns derivatives(const Point& p) const {
    const double u = (p.x - center_.x) / radius_;
    const double v = (p.y - center_.y) / radius_;
    Columns columns{Point{1, 0}, Point{0, 1}};
    if (motion_ == Motion::homography) {
      columns[2] = {u, 0};
      columns[3] = {v, 0};
      columns[4] = {0, u};
      columns[5] = {0, v};
      columns[6] = {-u * u, -u * v};
      columns[7] = {-u * v, -v * v};
    } else {
      columns[2] = {-v, u};
      if (motion_ == Motion::similarity) columns[3] = {u, v};
    }
    return columns;
  }

  /// The transform with these parameters, which is exactly of the motion.
  [[nodiscard]] Homography transform(std::span<const double> parameters) const {
    const auto part = [&](std::size_t i) { return parameters[i] / radius_; };
    Homography turn;
    if (motion_ == Motion::homography) {
      turn.h = {1 + part(2),       part(3),           0, part(4), 1 + part(5), 0,
                part(6) / radius_, part(7) / radius_, 1};
    } else {
      const double angle = part(2);
      double cos = std::cos(angle);
      double sin = std::sin(angle);
      if (motion_ == Motion::similarity) {
        cos = 1 + part(3);
        sin = angle;
      }
      turn.h = {cos, -sin, 0, sin, cos, 0, 0, 0, 1};
    }
    const Homography to_center(Affine{1, 0, -center_.x, 0, 1, -center_.y});
    const Homography back(Affine{1, 0, center_.x + parameters[0], 0, 1, center_.y + parameters[1]});
    return back * turn * to_center;
  }

 private:
  Motion motion_;
  Point center_;
  double radius_;  ///< half of the longer side, in pixels
};

}  // namespace warpalign::detail
