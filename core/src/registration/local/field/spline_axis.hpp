// The control points of a cubic spline along one axis of an image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

/// Evenly spaced control points, from one spacing before the first pixel to one beyond the last.
/// So every pixel has all four neighbours, and coordinates themselves are a spline: the one whose
/// control points are their own positions.
struct SplineAxis {
  double origin = 0;   ///< of the first control point, in pixels
  double spacing = 1;  ///< in pixels
  std::size_t intervals = 1;

  [[nodiscard]] std::size_t controls() const noexcept { return intervals + 3; }
  [[nodiscard]] double position(std::size_t control) const noexcept {
    return origin + static_cast<double>(control) * spacing;
  }
};

/// For an axis of so many pixels, with about the spacing asked for, and at most `max_intervals`.
[[nodiscard]] SplineAxis spline_axis(std::int64_t pixels, double spacing,
                                     std::size_t max_intervals);

/// The four control points that count at a point, from `first` on.
struct AxisWeights {
  std::size_t first = 0;
  std::array<double, 4> weight{};
};
/// At a pixel coordinate; outside of the axis at its nearer end.
[[nodiscard]] AxisWeights weights_at(const SplineAxis& axis, double pixel) noexcept;

/// What control points count, from `first` on, in the mean over a stretch of the axis.
struct AxisMean {
  /// A stretch of up to four intervals, wherever it begins.
  static constexpr std::size_t most = 8;
  std::size_t first = 0;
  std::size_t count = 0;  ///< of the weights that are not 0
  std::array<double, most> weight{};
};
/// The mean over `length` pixels about a pixel coordinate, both ends within the axis; over more
/// than four intervals, that of the four in the middle. Length 0 is the point itself.
[[nodiscard]] AxisMean mean_about(const SplineAxis& axis, double pixel, double length) noexcept;

/// The integrals over the axis of the products of two basis functions' derivatives of one order, 0
/// to 2: [k][offset] for functions k and k + offset. Lengths are in units of `unit` pixels.
using GramMatrix = std::vector<std::array<double, 4>>;
[[nodiscard]] GramMatrix gram_matrix(const SplineAxis& axis, int derivative, double unit);

}  // namespace warpalign::detail
