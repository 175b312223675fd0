// Cubic evaluation in volumes, from a copy of the source in local memory.
#include "spline/interpolate_volume.hpp"

#include "device/build_options.hpp"
#include "device/device_list.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "spline/fixed_point.hpp"

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
/// The sides of tiles in the order in which they are tried, the largest first.
constexpr std::array<Sides, 7> tiles{
    {{16, 16, 8}, {16, 16, 6}, {16, 8, 8}, {16, 16, 4}, {16, 8, 6}, {16, 8, 4}, {16, 8, 2}}};

/// The copy of the coefficients that each tile needs.
struct TileCopy {
  Sides tile{};
  Sides extent{};
  std::array<cl_long, 3> minimum{};  // coordinates from the tile's first point, in fixed point
  int plane = 0;
  [[nodiscard]] std::size_t bytes() const {
    return sizeof(cl_float) * static_cast<std::size_t>(plane) * static_cast<std::size_t>(extent[2]);
  }
};

TileCopy tile_copy_of(const double* matrix, const Sides& tile) {
  constexpr double rounding = 0x1p-20;  // more than fixed-point steps lose over a tile
  constexpr int neighbours = 4;
  TileCopy copy;
  copy.tile = tile;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const backend::TileRange range = backend::tile_range(matrix + 4 * axis, tile);
    const double span = range.maximum - range.minimum + 2 * rounding;
    copy.minimum[axis] = to_fixed(range.minimum - rounding);
    copy.extent[axis] = static_cast<int>(std::ceil(span)) + neighbours;
  }
  copy.extent[0] = (copy.extent[0] + 3 + 3) / 4 * 4;  // a copy begins at a multiple of 4
  copy.plane = copy.extent[1] * pitch + pitch / 2;
  return copy;
}

std::optional<TileCopy> tile_copy_within(const double* matrix, std::size_t bytes) {
  for (const Sides& tile : tiles) {
    const TileCopy copy = tile_copy_of(matrix, tile);
    if (copy.extent[0] <= pitch && copy.extent[1] <= pitch && copy.bytes() <= bytes) {
      return copy;
    }
  }
  return std::nullopt;
}

std::string options_for(const InterpolateSpec& spec, const backend::InterpolateDetails& details) {
  return extension_option(details.extension) + points_option(details.points) +
         output_option(spec.output_type);
}

}  // namespace

bool VolumeEvaluation::serves(const Context& context, const InterpolateSpec& spec,
                              const backend::InterpolateDetails& details) {
  using Rule = backend::InterpolateDetails::Points;
  return !context.has_vectors() && spec.dimensions == 3 && spec.degree == 3 &&
         spec.precision == Precision::full && spec.coefficients != PixelType::c32 &&
         details.points != Rule::period_minus_one &&
         device_value<std::size_t>(context.id(), CL_DEVICE_MAX_WORK_GROUP_SIZE) >= group_items;
}

VolumeEvaluation::VolumeEvaluation(Context& context, const InterpolateSpec& spec,
                                   const backend::InterpolateDetails& details, const Shape& stored)
    : site_(context.call_site(stage)),
      output_(spec.output),
      stored_(stored),
      margin_(details.margin),
      cval_(static_cast<cl_float>(spec.cval)),
      max_bytes_(device_value<cl_ulong>(context.id(), CL_DEVICE_LOCAL_MEM_SIZE)),
      kernel_(context, stage, kernels::interpolate_volume, "interpolate_volume",
              options_for(spec, details)) {}

bool VolumeEvaluation::enqueue(cl_command_queue queue, cl_mem coefficients,
                               const Transform& transform, const backend::Memory& output) {
  const double* m = transform.m.data();
  if (!transform.is_affine() || !backend::all_near(m, output_, 3)) return false;
  const auto copy = tile_copy_within(m, max_bytes_);
  if (!copy) return false;
  const std::int64_t count = divide_up(output_.width, copy->tile[0]) *
                             divide_up(output_.height, copy->tile[1]) *
                             divide_up(output_.depth, copy->tile[2]);
  constexpr std::size_t items = group_items;
  const Grid grid{{static_cast<std::size_t>(to_int(count, site_)) * items, 1}, {items, 1}};
  const FixedRow x = fixed_row(m), y = fixed_row(m + 4), z = fixed_row(m + 8);
  const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
  kernel_.launch(queue, grid, coefficients, number(stored_.width), number(stored_.height),
                 number(stored_.depth), margin_, cval_, x.fine, x.steps, copy->minimum[0],
                 number(copy->extent[0]), y.fine, y.steps, copy->minimum[1],
                 number(copy->extent[1]), z.fine, z.steps, copy->minimum[2],
                 number(copy->extent[2]), number(copy->tile[1]), number(copy->tile[2]),
                 number(stored_.width % 4 == 0 ? 1 : 0), number(copy->plane),
                 LocalMemory{copy->bytes()}, output, number(output_.width), number(output_.height),
                 number(output_.depth));
  return true;
}

}  // namespace warpalign::opencl
