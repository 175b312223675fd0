// Evaluation under an affine transform, from a copy of the source in local memory.
#include "spline/interpolate_tiled.hpp"

#include "device/build_options.hpp"
#include "device/device_list.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "spline/interpolate_points.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/backend/tiles.hpp>

#include <algorithm>
#include <cmath>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "interpolate";

constexpr int group_items = WA_TILED_GROUP;
constexpr int kept_bytes = 1024;  // of local memory besides the copy, at most
using Sides = std::array<int, 3>;
/// The sides of tiles in the order of preference, the largest first.
constexpr std::array<Sides, 4> plane_tiles{{{64, 64, 1}, {64, 32, 1}, {64, 16, 1}, {64, 8, 1}}};
constexpr std::array<Sides, 4> volume_tiles{{{16, 16, 8}, {16, 8, 8}, {16, 8, 4}, {16, 8, 2}}};

// The distance between rows of a copy, in floats. In planes, 32 neighbouring work-items lie along a
// row of the output. If that row mostly follows a row of the source, a multiple of the 32 banks is
// best, and otherwise anything but a multiple. In volumes they cover 16 x 1 x 2 pixels, so planes
// are offset by half the banks.
constexpr int flat_pitch = 96;
constexpr int steep_pitch = 100;
constexpr int volume_pitch = 32;
constexpr int banks = 32;

std::string options_for(const InterpolateSpec& spec, const backend::InterpolateDetails& details,
                        int plane_pitch) {
  return int_option("PITCH", spec.images.dimensions == 2 ? plane_pitch : volume_pitch) +
         int_option("DEGREE", spec.spline.degree) +
         int_option("DIMENSIONS", spec.images.dimensions) + extension_option(details.extension) +
         points_option(details.points) + output_option(spec.output_type) +
         batch_option(spec.images.count);
}

cl_float4 vector_of(const std::array<float, 3>& row) { return {{row[0], row[1], row[2], 0}}; }

}  // namespace

/// The data that the tiles of all arrays of a batch share.
struct TiledEvaluation::Tiles {
  std::array<int, 3> sides{};
  bool steep = false;
  int pitch = 1, plane = 1;
  std::size_t bytes = 0;
};

bool TiledEvaluation::serves(const Context& context, const InterpolateSpec& spec,
                             const backend::InterpolateDetails& details) {
  using Rule = backend::InterpolateDetails::Points;
  return !context.has_vectors() && spec.images.dimensions >= 2 && spec.spline.degree >= 3 &&
         spec.spline.precision == Precision::full && spec.coefficients != PixelType::c32 &&
         details.points != Rule::period_minus_one &&
         device_value<std::size_t>(context.id(), CL_DEVICE_MAX_WORK_GROUP_SIZE) >= group_items;
}

TiledEvaluation::TiledEvaluation(Context& context, const InterpolateSpec& spec,
                                 const backend::InterpolateDetails& details, const Shape& stored)
    : site_(context.call_site(stage)),
      spec_(spec),
      details_(details),
      stored_(stored),
      max_bytes_(device_value<cl_ulong>(context.id(), CL_DEVICE_LOCAL_MEM_SIZE) - kept_bytes),
      flat_(context, stage, kernels::interpolate_tiled, "interpolate_tiled",
            options_for(spec, details, flat_pitch)),
      steep_(context, stage, kernels::interpolate_tiled, "interpolate_tiled",
             options_for(spec, details, steep_pitch)) {
  if (spec.images.count > 1) table_.emplace(context, spec.images.count, stage);
}

std::optional<backend::TileSource> TiledEvaluation::source_of(const HomogeneousMatrix& transform,
                                                              const Sides& sides) const {
  return backend::tile_source(transform, spec_.output, details_.points, spec_.images.dimensions,
                              spec_.spline.degree, sides);
}

bool TiledEvaluation::fit(std::span<const HomogeneousMatrix> transforms, const Sides& sides,
                          Tiles& tiles) const {
  Sides extent{};
  tiles.steep = false;
  for (const HomogeneousMatrix& transform : transforms) {
    const auto source = source_of(transform, sides);
    if (!source) return false;
    for (std::size_t i = 0; i < 3; ++i) extent[i] = std::max(extent[i], source->extent[i]);
    if (std::abs(transform.m[4]) > 0.7 * std::abs(transform.m[0])) tiles.steep = true;
  }
  const auto [across, down, deep] = extent;
  if (spec_.images.dimensions == 2) {
    tiles.steep = tiles.steep || across > flat_pitch;
    tiles.pitch = tiles.steep ? steep_pitch : flat_pitch;
    tiles.plane = down * tiles.pitch;
  } else {
    tiles.steep = false;
    tiles.pitch = volume_pitch;
    tiles.plane = down * tiles.pitch + banks / 2;
  }
  tiles.bytes = sizeof(cl_float) * static_cast<std::size_t>(tiles.plane) *
                static_cast<std::size_t>(std::max(deep, 1));
  tiles.sides = sides;
  return across <= tiles.pitch && tiles.bytes <= max_bytes_;
}

bool TiledEvaluation::choose_tiles(std::span<const HomogeneousMatrix> transforms,
                                   Tiles& tiles) const {
  const auto& all = spec_.images.dimensions == 2 ? plane_tiles : volume_tiles;
  return std::any_of(all.begin(), all.end(),
                     [&](const Sides& sides) { return fit(transforms, sides, tiles); });
}

TiledAxes TiledEvaluation::axes_of(const HomogeneousMatrix& transform, const Sides& sides) const {
  const Points at = points_of(transform, spec_.output);
  const auto source = source_of(transform, sides);  // not empty: the tiles fit
  TiledAxes axes{};
  for (std::size_t i = 0; i < 3; ++i) {
    axes.rows[i] = {at.rows[i].nearest, at.rows[i].rest, vector_of(source->high[i]),
                    vector_of(source->low[i])};
    axes.minimum[i] = static_cast<cl_float>(source->minimum[i]);
    axes.extent[i] = source->extent[i];
  }
  return axes;
}

bool TiledEvaluation::enqueue(cl_command_queue queue, cl_mem coefficients,
                              std::span<const HomogeneousMatrix> transforms,
                              const backend::Memory& output) {
  Tiles tiles;
  if (!choose_tiles(transforms, tiles)) return false;
  const Shape& out = spec_.output;
  const std::int64_t count = divide_up(out.width, tiles.sides[0]) *
                             divide_up(out.height, tiles.sides[1]) *
                             divide_up(out.depth, tiles.sides[2]);
  constexpr std::size_t items = group_items;
  const Grid grid{{static_cast<std::size_t>(extent(count * spec_.images.count, site_)) * items, 1},
                  {items, 1}};
  const auto axes_at = [&](std::size_t i) { return axes_of(transforms[i], tiles.sides); };
  const TiledAxes first = axes_at(0);
  const TiledAxes::Row &x = first.rows[0], &y = first.rows[1], &z = first.rows[2];
  const auto& minimum = first.minimum;
  const auto& extent = first.extent;
  const auto centre = points_of(transforms.front(), out).centre;
  const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
  Kernel& kernel = tiles.steep ? steep_ : flat_;
  const auto launch = [&](const auto&... last) {
    kernel.launch(
        queue, grid, coefficients, number(stored_.width), number(stored_.height),
        number(stored_.depth), number(details_.margin), static_cast<cl_float>(spec_.spline.cval),
        x.nearest, x.rest, x.high, x.low, minimum[0], extent[0], y.nearest, y.rest, y.high, y.low,
        minimum[1], extent[1], z.nearest, z.rest, z.high, z.low, minimum[2], extent[2], centre[0],
        centre[1], centre[2], number(tiles.sides[1]), number(tiles.sides[2]),
        number(stored_.width % 4 == 0 ? 1 : 0), number(tiles.plane), LocalMemory{tiles.bytes},
        output, number(out.width), number(out.height), number(out.depth), last...);
  };
  launch_for_arrays(table_, queue, transforms.size(), axes_at, launch, number(count));
  return true;
}

}  // namespace warpalign::opencl
