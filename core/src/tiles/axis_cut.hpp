// Which samples along one axis a tile needs.
#pragma once

#include <warpalign/stages/resample.hpp>

#include <cstdint>

namespace warpalign::detail {

/// Coordinates along one axis.
struct Interval {
  double low = 0;
  double high = 0;
};

/// How far samples around a point count.
struct Reach {
  std::int64_t before = 0;  ///< samples before the one below the point
  std::int64_t after = 0;   ///< samples behind it
};

/// Of a valid spec: the B-spline's support, and the prefilter's halo.
[[nodiscard]] Reach reach_of(const ResampleSpec& spec);

/// The samples from `begin` on. Coordinate x of the image is `sign` x + `shift` among them.
struct AxisCut {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  double sign = 1;
  double shift = 0;
  bool inside = false;   ///< what lies beyond the cut's ends does not matter
  bool at_edge = false;  ///< samples beyond the image would count
  bool outside = false;  ///< every point is cval
};

/// The cut of an axis of `samples` samples for points anywhere in the interval.
[[nodiscard]] AxisCut cut_axis(Boundary boundary, const Reach& reach, std::int64_t samples,
                               const Interval& points);
/// The cut that leaves the axis as it is.
[[nodiscard]] AxisCut whole_axis(std::int64_t samples);

}  // namespace warpalign::detail
