// The pixels that a displacement field maps into the frame.
#include "registration/local/field/field_interior.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpalign::detail {

namespace {

// The distance between samples along an edge, in pixels. A field changes little over it.
constexpr std::int64_t step = 16;
// The margin depends on the field at the margin, so it is computed iteratively.
constexpr int passes = 3;

// The distance from an edge of `length` pixels beyond which all pixels are mapped into the frame.
// outside(along, margin): how far a pixel at the distance `margin` from the edge is mapped beyond
// the edge; negative if it is mapped into the frame.
template <class Outside>
std::int32_t margin_of(std::int64_t length, Outside&& outside) {
  double margin = 0;
  for (int pass = 0; pass < passes; ++pass) {
    double farthest = 0;
    for (std::int64_t i = 0; i < length + step - 1; i += step) {
      const auto along = static_cast<double>(std::min(i, length - 1));
      farthest = std::max(farthest, margin + outside(along, margin));
    }
    if (farthest <= margin) break;
    margin = std::ceil(farthest);
  }
  return static_cast<std::int32_t>(margin);
}

}  // namespace

PixelRange interior_of(const DisplacementField& field) {
  const Shape& frame = field.frame();
  const auto right = static_cast<double>(frame.width - 1);
  const auto bottom = static_cast<double>(frame.height - 1);
  const auto clipped = [](std::int64_t pixels, std::int32_t margin) {
    return static_cast<std::int32_t>(pixels) - margin;
  };
  PixelRange range;
  range.first_column = margin_of(frame.height, [&](double y, double m) {
    return -(m + field.at({m, y}).x);
  });
  range.end_column = clipped(frame.width, margin_of(frame.height, [&](double y, double m) {
                               return field.at({right - m, y}).x - m;
                             }));
  range.first_row = margin_of(frame.width, [&](double x, double m) {
    return -(m + field.at({x, m}).y);
  });
  range.end_row = clipped(frame.height, margin_of(frame.width, [&](double x, double m) {
                            return field.at({x, bottom - m}).y - m;
                          }));
  return range;
}

}  // namespace warpalign::detail
