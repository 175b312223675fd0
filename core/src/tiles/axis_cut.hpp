// The samples that a tile needs along one axis.
#pragma once

#include <warpalign/stages/resample.hpp>

#include <cstdint>

namespace warpalign::detail {

/// An interval of coordinates along one axis.
struct Interval {
  double low = 0;
  double high = 0;
};

/// The number of samples around a point that influence its value.
struct Reach {
  std::int64_t before = 0;  ///< samples before the sample floor(x)
  std::int64_t after = 0;   ///< samples after the sample floor(x)
};

/// The reach for a valid spec: the B-spline's support plus the prefilter's halo.
[[nodiscard]] Reach reach_of(const ResampleSpec& spec);

/// A range of samples of an axis. Coordinate x of the image is `sign` x + `shift` in the range.
struct AxisCut {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  double sign = 1;
  double shift = 0;
  bool inside = false;   ///< samples beyond the range have no influence
  bool at_edge = false;  ///< samples beyond the image have an influence
  bool outside = false;  ///< every point is cval
};

/// The range of an axis of `samples` samples that points anywhere in the interval need.
[[nodiscard]] AxisCut cut_axis(Boundary boundary, const Reach& reach, std::int64_t samples,
                               const Interval& points);
/// The range that is the whole axis.
[[nodiscard]] AxisCut whole_axis(std::int64_t samples);

}  // namespace warpalign::detail
