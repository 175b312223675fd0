// Interpolation of degree 1 by loads from memory.
#include "spline/interpolate_linear.hpp"

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
#include <limits>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "interpolate";

constexpr int group_items = WA_LINEAR_GROUP;
using Sides = std::array<int, 3>;
constexpr Sides plane_tile{WA_LINEAR_PLANE_X, WA_LINEAR_PLANE_Y, 1};
constexpr Sides volume_tile{WA_LINEAR_VOLUME_X, WA_LINEAR_VOLUME_Y, WA_LINEAR_VOLUME_Z};

// The width of the patch of pixels that 32 neighbouring work-items compute. A wider patch makes
// their stores better; but the steeper the transform is, the more rows its loads then lie in.
constexpr int wide_patch = 16;
constexpr int narrow_patch = 8;

constexpr const Sides& tile_of(int dimensions) {
  return dimensions == 2 ? plane_tile : volume_tile;
}

Grid grid_for(const InterpolateSpec& spec) {
  const Shape& output = spec.output;
  const Sides& tile = tile_of(spec.dimensions);
  const auto number = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {{number(divide_up(output.width, tile[0])) * group_items,
           number(divide_up(output.height, tile[1]) * divide_up(output.depth, tile[2]))},
          {group_items, 1}};
}

std::string options_for(const InterpolateSpec& spec, const backend::InterpolateDetails& details,
                        int patch) {
  return int_option("DIMENSIONS", spec.dimensions) + int_option("PATCH_X", patch) +
         extension_option(details.extension) + points_option(details.points) +
         output_option(spec.output_type);
}

/// An axis of a transform as the kernel takes it: a tile's coordinates reach from `minimum` to
/// `maximum`, counted from its first one.
struct AxisRow {
  FixedRow fixed;
  cl_long minimum, maximum;
};

AxisRow axis_row(const double* row, int dimensions) {
  constexpr double rounding = 0x1p-20;  // more than fixed-point steps lose over a tile
  const backend::TileRange range = backend::tile_range(row, tile_of(dimensions));
  return {fixed_row(row), to_fixed(range.minimum - rounding), to_fixed(range.maximum + rounding)};
}

/// Whether a step along a row of the output mainly crosses rows or planes of the source.
bool is_steep(const double* matrix) {
  constexpr double steep = 0.75;
  return std::max(std::abs(matrix[4]), std::abs(matrix[8])) > steep;
}

}  // namespace

bool LinearEvaluation::serves(const Context& context, const InterpolateSpec& spec,
                              const backend::InterpolateDetails& details) {
  return !context.has_vectors() && spec.degree == 1 && spec.dimensions >= 2 &&
         spec.coefficients != PixelType::c32 && details.margin == 0 &&
         spec.image.pixels() <= std::numeric_limits<cl_int>::max() &&
         device_value<std::size_t>(context.id(), CL_DEVICE_MAX_WORK_GROUP_SIZE) >= group_items;
}

LinearEvaluation::LinearEvaluation(Context& context, const InterpolateSpec& spec,
                                   const backend::InterpolateDetails& details)
    : dimensions_(spec.dimensions),
      image_(spec.image),
      output_(spec.output),
      cval_(static_cast<cl_float>(spec.cval)),
      grid_(grid_for(spec)),
      kernel_(context, stage, kernels::interpolate_linear, "interpolate_linear",
              options_for(spec, details, dimensions_ == 2 ? narrow_patch : wide_patch)) {
  if (dimensions_ == 2) return;  // in planes, narrow patches are as good for every transform
  steep_.emplace(context, stage, kernels::interpolate_linear, "interpolate_linear",
                 options_for(spec, details, narrow_patch));
}

bool LinearEvaluation::enqueue(cl_command_queue queue, cl_mem samples, const Transform& transform,
                               const backend::Memory& output) {
  const double* m = transform.m.data();
  if (!transform.is_affine() || !backend::all_near(m, output_, dimensions_)) return false;
  const AxisRow x = axis_row(m, dimensions_);
  const AxisRow y = axis_row(m + 4, dimensions_);
  const AxisRow z = axis_row(m + 8, dimensions_);
  const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
  (steep_ && is_steep(m) ? *steep_ : kernel_)
      .launch(queue, grid_, samples, number(image_.width), number(image_.height),
              number(image_.depth), cval_, x.fixed.fine, x.fixed.steps, x.minimum, x.maximum,
              y.fixed.fine, y.fixed.steps, y.minimum, y.maximum, z.fixed.fine, z.fixed.steps,
              z.minimum, z.maximum, output, number(output_.width), number(output_.height),
              number(output_.depth));
  return true;
}

}  // namespace warpalign::opencl
