// Cubic evaluation in volumes, from a copy of the source in local memory.
#include "spline/interpolate_volume.hpp"

#include "device/build_options.hpp"
#include "device/device_list.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/backend/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "interpolate";

constexpr int group_items = WA_VOLUME_GROUP;
constexpr int pitch = WA_VOLUME_PITCH;

using Sides = std::array<int, 3>;
/// The sides of tiles in the order of preference, the largest first.
constexpr std::array<Sides, 7> tiles{
    {{16, 16, 8}, {16, 16, 6}, {16, 8, 8}, {16, 16, 4}, {16, 8, 6}, {16, 8, 4}, {16, 8, 2}}};

/// A transform, and the copy of the coefficients that each tile needs under it.
VolumeAxes axes_of(const double* matrix, const Sides& tile) {
  constexpr double rounding = 0x1p-20;  // more than fixed-point steps lose over a tile
  constexpr int neighbours = 4;
  VolumeAxes axes{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const backend::TileRange range = backend::tile_range(matrix + 4 * axis, tile);
    const double span = range.maximum - range.minimum + 2 * rounding;
    axes.rows[axis] = fixed_row(matrix + 4 * axis);
    axes.minimum[axis] = to_fixed(range.minimum - rounding);
    axes.extent[axis] = static_cast<int>(std::ceil(span)) + neighbours;
  }
  axes.extent[0] = (axes.extent[0] + 3 + 3) / 4 * 4;  // a copy begins at a multiple of 4
  return axes;
}

/// The local memory that a tile's copy takes.
struct TileCopy {
  Sides tile{};
  int plane = 0;
  std::size_t bytes = 0;
};

/// The largest tile whose copies fit, under each of the transforms.
std::optional<TileCopy> tile_copy_within(std::span<const HomogeneousMatrix> transforms,
                                         std::size_t bytes) {
  for (const Sides& tile : tiles) {
    Sides extent{};
    for (const HomogeneousMatrix& transform : transforms) {
      const VolumeAxes axes = axes_of(transform.m.data(), tile);
      for (std::size_t i = 0; i < 3; ++i) extent[i] = std::max(extent[i], axes.extent[i]);
    }
    TileCopy copy;
    copy.tile = tile;
    copy.plane = extent[1] * pitch + pitch / 2;
    copy.bytes = sizeof(cl_float) * static_cast<std::size_t>(copy.plane) *
                 static_cast<std::size_t>(extent[2]);
    if (extent[0] <= pitch && extent[1] <= pitch && copy.bytes <= bytes) return copy;
  }
  return std::nullopt;
}

std::string options_for(const InterpolateSpec& spec, const backend::InterpolateDetails& details) {
  return extension_option(details.extension) + points_option(details.points) +
         output_option(spec.output_type) + batch_option(spec.images.count);
}

}  // namespace

bool VolumeEvaluation::serves(const Context& context, const InterpolateSpec& spec,
                              const backend::InterpolateDetails& details) {
  using Rule = backend::InterpolateDetails::Points;
  return !context.has_vectors() && spec.images.dimensions == 3 && spec.spline.degree == 3 &&
         spec.spline.precision == Precision::full && spec.coefficients != PixelType::c32 &&
         details.points != Rule::period_minus_one &&
         device_value<std::size_t>(context.id(), CL_DEVICE_MAX_WORK_GROUP_SIZE) >= group_items;
}

VolumeEvaluation::VolumeEvaluation(Context& context, const InterpolateSpec& spec,
                                   const backend::InterpolateDetails& details, const Shape& stored)
    : site_(context.call_site(stage)),
      output_(spec.output),
      stored_(stored),
      margin_(details.margin),
      cval_(static_cast<cl_float>(spec.spline.cval)),
      max_bytes_(device_value<cl_ulong>(context.id(), CL_DEVICE_LOCAL_MEM_SIZE)),
      kernel_(context, stage, kernels::interpolate_volume, "interpolate_volume",
              options_for(spec, details)),
      batch_(spec.images.count) {
  if (batch_ > 1) table_.emplace(context, batch_, stage);
}

bool VolumeEvaluation::enqueue(cl_command_queue queue, cl_mem coefficients,
                               std::span<const HomogeneousMatrix> transforms,
                               const backend::Memory& output) {
  for (const HomogeneousMatrix& transform : transforms) {
    if (!transform.is_affine() || !backend::all_near(transform.m.data(), output_, 3)) return false;
  }
  const auto copy = tile_copy_within(transforms, max_bytes_);
  if (!copy) return false;
  const std::int64_t count = divide_up(output_.width, copy->tile[0]) *
                             divide_up(output_.height, copy->tile[1]) *
                             divide_up(output_.depth, copy->tile[2]);
  constexpr std::size_t items = group_items;
  const Grid grid{{static_cast<std::size_t>(extent(count * batch_, site_)) * items, 1}, {items, 1}};
  const auto axes_at = [&](std::size_t i) { return axes_of(transforms[i].m.data(), copy->tile); };
  const VolumeAxes first = axes_at(0);
  const FixedRow &x = first.rows[0], &y = first.rows[1], &z = first.rows[2];
  const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
  const auto launch = [&](const auto&... last) {
    kernel_.launch(queue, grid, coefficients, number(stored_.width), number(stored_.height),
                   number(stored_.depth), margin_, cval_, x.fine, x.steps, first.minimum[0],
                   first.extent[0], y.fine, y.steps, first.minimum[1], first.extent[1], z.fine,
                   z.steps, first.minimum[2], first.extent[2], number(copy->tile[1]),
                   number(copy->tile[2]), number(stored_.width % 4 == 0 ? 1 : 0),
                   number(copy->plane), LocalMemory{copy->bytes}, output, number(output_.width),
                   number(output_.height), number(output_.depth), last...);
  };
  launch_for_arrays(table_, queue, transforms.size(), axes_at, launch, number(count));
  return true;
}

}  // namespace warpalign::opencl
