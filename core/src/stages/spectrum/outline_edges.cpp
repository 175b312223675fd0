// The outlines of two images in the form of the kernels.
#include "stages/spectrum/outline_edges.hpp"

#include "device/check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpalign::detail {

namespace {

// No image is larger, and the kernels' numbers stay finite up to this size.
constexpr float max_half_extent = 0x1p20F;

void check_outline(const char* stage, const OverlapOutline& outline) {
  for (const float number : {outline.half_width, outline.half_height, outline.along_x,
                             outline.along_y, outline.across_x, outline.across_y}) {
    if (!std::isfinite(number)) refuse(stage, "the outlines contain NaN or infinity");
    if (std::abs(number) > max_half_extent) {
      refuse(stage, "an outline is larger than any image");
    }
  }
  if (outline.half_width < 0 || outline.half_height < 0) {
    refuse(stage, "an outline's half width and half height must be 0 or more");
  }
}

// Rotates edges along the axes by less than the rounding error, because kernels divide by both
// components.
backend::HalfEdge half_edge(double x, double y) {
  constexpr double least = 0x1p-20;
  if (y < 0) x = -x, y = -y;
  y = std::max(y, least);
  if (std::abs(x) < least) x = std::copysign(least, x);
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(1 / (2 * x)),
          static_cast<float>(1 / y)};
}

}  // namespace

backend::OutlineEdges edges_of(const char* stage, const OverlapOutline& outline) {
  check_outline(stage, outline);
  const auto edge = [](float x, float y) {
    return half_edge(static_cast<double>(x), static_cast<double>(y));
  };
  backend::HalfEdge first = edge(outline.along_x, outline.along_y);
  backend::HalfEdge second = edge(outline.across_x, outline.across_y);
  const double turn = static_cast<double>(first.x) * static_cast<double>(second.y) -
                      static_cast<double>(first.y) * static_cast<double>(second.x);
  if (turn < 0) std::swap(first, second);
  return {outline.half_width, outline.half_height, first, second};
}

}  // namespace warpalign::detail
