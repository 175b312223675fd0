// Independent tiles of a resampled image.
#include <warpalign/tiles.hpp>

#include "device/check.hpp"
#include "stages/converted.hpp"
#include "stages/spline/details.hpp"
#include "tiles/axis_cut.hpp"
#include "tiles/fitting_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpalign {

namespace {

using detail::AxisCut;
using detail::Interval;

constexpr const char* stage = "tiles";

std::array<std::int64_t, 3> extents_of(const Shape& shape) {
  return {shape.width, shape.height, shape.depth};
}

void check_spec(const ResampleSpec& spec) {
  detail::check_shapes(stage, spec.images, spec.output);
  detail::check_spline(stage, spec.spline);
}

void check_region(const Shape& output, const Region& region) {
  const auto whole = extents_of(output);
  const auto part = extents_of(region.shape);
  for (std::size_t i = 0; i < 3; ++i) {
    if (region.begin[i] >= 0 && part[i] >= 1 && part[i] <= whole[i] - region.begin[i]) continue;
    detail::refuse(stage, "the region of " + to_string(region.shape) +
                              " pixels is not within the output of " + to_string(output));
  }
}

/// The bounds of the transformed points along each axis. If the denominator of a projective
/// transform changes its sign in the region, the bounds are infinite.
std::array<Interval, 3> points_of(const HomogeneousMatrix& transform, const Region& region) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::array<Interval, 3> points;
  points.fill({infinity, -infinity});
  const auto extents = extents_of(region.shape);
  bool positive = false, negative = false;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    std::array<double, 4> sums{};
    for (std::size_t row = 0; row < 4; ++row) {
      const double* m = transform.m.data() + 4 * row;
      sums[row] = m[3];
      for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t end = ((corner >> i) & 1U) != 0 ? extents[i] - 1 : 0;
        sums[row] += m[i] * static_cast<double>(region.begin[i] + end);
      }
    }
    positive |= !(sums[3] <= 0);
    negative |= !(sums[3] >= 0) || sums[3] == 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double at = sums[axis] / sums[3];
      points[axis] = {std::min(points[axis].low, at), std::max(points[axis].high, at)};
    }
  }
  if (positive && negative) points.fill({-infinity, infinity});
  return points;
}

/// The cut for a tile whose pixels are all cval: a single sample, which no point uses.
std::array<AxisCut, 3> one_sample() {
  AxisCut cut = detail::whole_axis(1);
  cut.outside = true;
  return {cut, cut, cut};
}

std::array<AxisCut, 3> cuts_of(const ResampleSpec& spec, const std::array<Interval, 3>& points) {
  const detail::Reach reach = detail::reach_of(spec);
  const auto samples = extents_of(spec.images.shape);
  std::array<AxisCut, 3> cuts;
  bool all_inside = true;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool used = i < static_cast<std::size_t>(spec.images.dimensions);
    cuts[i] = used ? detail::cut_axis(spec.spline.boundary, reach, samples[i], points[i])
                   : detail::whole_axis(samples[i]);
    if (cuts[i].outside) return one_sample();
    all_inside &= !used || cuts[i].inside;
  }
  if (spec.spline.boundary != Boundary::wrap || all_inside) return cuts;
  // The tile crosses the seam of one axis, so `wrap` applies to all axes. A cut that begins or ends
  // at an edge would then have another seam there.
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.images.dimensions); ++i) {
    if (cuts[i].at_edge) cuts[i] = detail::whole_axis(samples[i]);
  }
  return cuts;
}

/// The tile of these cuts. `transform` maps pixels of the tile to the image.
Tile tile_from(const ResampleSpec& spec, const std::array<AxisCut, 3>& cuts,
               const HomogeneousMatrix& transform) {
  Tile tile;
  tile.boundary = Boundary::mirror;
  tile.output_to_input = transform;
  std::array<double, 16>& m = tile.output_to_input.m;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec.images.dimensions); ++axis) {
    const AxisCut& cut = cuts[axis];
    if (!cut.inside) tile.boundary = spec.spline.boundary;
    tile.outside |= cut.outside;
    const double shift = cut.shift - static_cast<double>(cut.begin);
    for (std::size_t i = 0; i < 4; ++i)
      m[4 * axis + i] = cut.sign * m[4 * axis + i] + shift * m[12 + i];
  }
  tile.input.begin = {cuts[0].begin, cuts[1].begin, cuts[2].begin};
  tile.input.shape = {cuts[0].length, cuts[1].length, cuts[2].length};
  return tile;
}

/// The transform for pixel coordinates relative to the region's first pixel.
HomogeneousMatrix begun_at(const HomogeneousMatrix& transform,
                           const std::array<std::int64_t, 3>& begin) {
  HomogeneousMatrix moved = transform;
  for (std::size_t row = 0; row < 4; ++row) {
    double* m = moved.m.data() + 4 * row;
    for (std::size_t i = 0; i < 3; ++i) m[3] += m[i] * static_cast<double>(begin[i]);
  }
  return moved;
}

std::size_t bytes_of(const Shape& shape, PixelType type) {
  return static_cast<std::size_t>(shape.pixels()) * size_of(type);
}

/// The memory for converted samples, if the kernels do not load their type. Without a prefilter,
/// kernels load only f32 and c32.
std::size_t converted_input_bytes(const ResampleSpec& spec, const Shape& shape) {
  const bool loaded = spec.spline.prefilter
                          ? detail::kernel_type(spec.input) == spec.input
                          : spec.input == PixelType::f32 || spec.input == PixelType::c32;
  return loaded ? 0 : bytes_of(shape, PixelType::f32);
}

std::size_t converted_output_bytes(const ResampleSpec& spec, const Shape& shape) {
  const bool stored = detail::kernel_type(spec.output_type) == spec.output_type;
  return stored ? 0 : bytes_of(shape, PixelType::f32);
}

Shape coefficient_shape(const ResampleSpec& spec, const Tile& tile) {
  PrefilterSpec part{.spline = spec.spline,
                     .images = {.shape = tile.input.shape, .dimensions = spec.images.dimensions}};
  part.spline.boundary = tile.boundary;
  return PrefilterPlan::coefficient_shape(part);
}

}  // namespace

int prefilter_halo(int degree) {
  const std::vector<double> poles = PrefilterPlan::poles(degree);
  if (poles.empty()) return 0;
  // All poles are negative, so the sum of |h(k)| is the product of (1 + |z|) / (1 - |z|). Beyond
  // the halo, |h(k)| decays like the slowest pole.
  double slowest = 0, sum = 1;
  for (const double z : poles) {
    const double size = std::abs(z);
    slowest = std::max(slowest, size);
    sum *= (1 + size) / (1 - size);
  }
  const double bound = 0x1p-25 / (2 * sum / (1 - slowest));
  return static_cast<int>(std::ceil(std::log(bound) / std::log(slowest)));
}

Tile tile_of(const ResampleSpec& spec, const HomogeneousMatrix& transform, const Region& output) {
  check_spec(spec);
  detail::check_transform(stage, transform);
  check_region(spec.output, output);
  Tile tile = tile_from(spec, cuts_of(spec, points_of(transform, output)),
                        begun_at(transform, output.begin));
  tile.output = output;
  return tile;
}

Tile tile_for_points(const ResampleSpec& spec, const Point3& low, const Point3& high) {
  check_spec(spec);
  const std::array<Interval, 3> points{{{low.x, high.x}, {low.y, high.y}, {low.z, high.z}}};
  for (const Interval& along : points) {
    if (std::isfinite(along.low) && std::isfinite(along.high) && along.low > along.high) {
      detail::refuse(stage, "the lowest coordinate of the points is above the highest");
    }
  }
  return tile_from(spec, cuts_of(spec, points), {});
}

std::vector<Tile> tiles(const ResampleSpec& spec, const HomogeneousMatrix& transform,
                        const Shape& tile) {
  check_spec(spec);
  detail::check_array(stage, "the tile", tile);
  std::vector<Tile> all;
  for (const Region& region : detail::regions_of(spec.output, tile)) {
    all.push_back(tile_of(spec, transform, region));
  }
  return all;
}

std::size_t tile_bytes(const ResampleSpec& spec, const Tile& tile) {
  std::size_t bytes = bytes_of(tile.input.shape, spec.input) +
                      converted_input_bytes(spec, tile.input.shape) +
                      bytes_of(tile.output.shape, spec.output_type) +
                      converted_output_bytes(spec, tile.output.shape);
  if (spec.spline.prefilter) {
    bytes += bytes_of(coefficient_shape(spec, tile), PrefilterPlan::coefficient_type(spec.input));
  }
  return bytes;
}

std::vector<Tile> tiles_within(const ResampleSpec& spec, const HomogeneousMatrix& transform,
                               std::size_t max_bytes, std::size_t max_allocation) {
  check_spec(spec);
  return detail::fitting_tiles(
      spec, [&](const Region& region) { return tile_of(spec, transform, region); },
      {max_bytes, max_allocation, 0});
}

}  // namespace warpalign
