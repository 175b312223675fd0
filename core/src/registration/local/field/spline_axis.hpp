// The control points of a cubic spline along one axis of an image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

/// Evenly spaced control points, from one spacing before the first pixel to one beyond the last, so
/// that every pixel has four neighbouring control points. The identity is a spline on this axis:
/// the one whose control points are their own positions.
struct SplineAxis {
  double origin = 0;   ///< of the first control point, in pixels
  double spacing = 1;  ///< in pixels
  std::size_t intervals = 1;

  [[nodiscard]] std::size_t controls() const noexcept { return intervals + 3; }
  [[nodiscard]] double position(std::size_t control) const noexcept {
    return origin + static_cast<double>(control) * spacing;
  }
};

/// The axis for this number of pixels, with about this spacing, and at most `max_intervals`.
[[nodiscard]] SplineAxis spline_axis(std::int64_t pixels, double spacing,
                                     std::size_t max_intervals);

/// The weights of the four control points around a point, from control point `first` on.
struct AxisWeights {
  std::size_t first = 0;
  std::array<double, 4> weight{};
};
/// The weights at a pixel coordinate; outside of the axis, those at the nearer end.
[[nodiscard]] AxisWeights weights_at(const SplineAxis& axis, double pixel) noexcept;

/// The weights of control points, from `first` on, in the mean over a segment of the axis.
struct AxisMean {
  /// Enough for a segment of up to four intervals at any position.
  static constexpr std::size_t most = 8;
  std::size_t first = 0;
  std::size_t count = 0;  ///< number of weights that are not 0
  std::array<double, most> weight{};
};
/// The weights for the mean over `length` pixels about a pixel coordinate, clipped to the axis and
/// to the four intervals in the middle. A length of 0 gives the value at the point.
[[nodiscard]] AxisMean mean_about(const SplineAxis& axis, double pixel, double length) noexcept;

/// The integrals over the axis of the products of two basis functions' derivatives of one order, 0
/// to 2: [k][offset] for functions k and k + offset. Lengths are in units of `unit` pixels.
using GramMatrix = std::vector<std::array<double, 4>>;
[[nodiscard]] GramMatrix gram_matrix(const SplineAxis& axis, int derivative, double unit);

}  // namespace warpalign::detail
