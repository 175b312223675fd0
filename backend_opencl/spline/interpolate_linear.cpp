// Interpolation of degree 1, by loads from memory.
#include "spline/interpolate_linear.hpp"

#include "device/build_options.hpp"
#include "device/device_list.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

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
// stores more efficient; but the steeper the transform, the more rows its loads touch.
constexpr int wide_patch = 16;
constexpr int narrow_patch = 8;

constexpr const Sides& tile_of(int dimensions) {
  return dimensions == 2 ? plane_tile : volume_tile;
}

Grid grid_for(const InterpolateSpec& spec) {
  const Shape& output = spec.output;
  const Sides& tile = tile_of(spec.images.dimensions);
  const auto number = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {{number(divide_up(output.width, tile[0]) * spec.images.count) * group_items,
           number(divide_up(output.height, tile[1]) * divide_up(output.depth, tile[2]))},
          {group_items, 1}};
}

std::string options_for(const InterpolateSpec& spec, const backend::InterpolateDetails& details,
                        int patch) {
  return int_option("DIMENSIONS", spec.images.dimensions) + int_option("PATCH_X", patch) +
         extension_option(details.extension) + points_option(details.points) +
         output_option(spec.output_type) + batch_option(spec.images.count);
}

/// A transform in the form that the kernel takes. Along each axis, a tile's coordinates range from
/// `minimum` to `maximum`, relative to its first point.
LinearAxes axes_of(const double* matrix, int dimensions) {
  constexpr double rounding = 0x1p-20;  // more than fixed-point steps lose over a tile
  LinearAxes axes{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double* row = matrix + 4 * i;
    const backend::TileRange range = backend::tile_range(row, tile_of(dimensions));
    axes.rows[i] = fixed_row(row);
    axes.ranges[i] = {to_fixed(range.minimum - rounding), to_fixed(range.maximum + rounding)};
  }
  return axes;
}

/// Whether a step along a row of the output mainly crosses rows or planes of the source.
bool is_steep(const double* matrix) {
  constexpr double steep = 0.75;
  return std::max(std::abs(matrix[4]), std::abs(matrix[8])) > steep;
}

}  // namespace

bool LinearEvaluation::serves(const Context& context, const InterpolateSpec& spec,
                              const backend::InterpolateDetails& details) {
  return !context.has_vectors() && spec.spline.degree == 1 && spec.images.dimensions >= 2 &&
         spec.coefficients != PixelType::c32 && details.margin == 0 &&
         spec.images.shape.pixels() <= std::numeric_limits<cl_int>::max() &&
         device_value<std::size_t>(context.id(), CL_DEVICE_MAX_WORK_GROUP_SIZE) >= group_items;
}

LinearEvaluation::LinearEvaluation(Context& context, const InterpolateSpec& spec,
                                   const backend::InterpolateDetails& details)
    : dimensions_(spec.images.dimensions),
      image_(spec.images.shape),
      output_(spec.output),
      cval_(static_cast<cl_float>(spec.spline.cval)),
      grid_(grid_for(spec)),
      batch_(spec.images.count),
      kernel_(context, stage, kernels::interpolate_linear, "interpolate_linear",
              options_for(spec, details, dimensions_ == 2 ? narrow_patch : wide_patch)) {
  if (batch_ > 1) table_.emplace(context, batch_, stage);
  if (dimensions_ == 2) return;  // in planes, narrow patches suit every transform
  steep_.emplace(context, stage, kernels::interpolate_linear, "interpolate_linear",
                 options_for(spec, details, narrow_patch));
}

bool LinearEvaluation::enqueue(cl_command_queue queue, cl_mem samples,
                               std::span<const HomogeneousMatrix> transforms,
                               const backend::Memory& output) {
  bool steep = false;
  for (const HomogeneousMatrix& transform : transforms) {
    const double* m = transform.m.data();
    if (!transform.is_affine() || !backend::all_near(m, output_, dimensions_)) return false;
    steep = steep || is_steep(m);
  }
  const auto axes_at = [&](std::size_t i) { return axes_of(transforms[i].m.data(), dimensions_); };
  const LinearAxes first = axes_at(0);
  const FixedRow &x = first.rows[0], &y = first.rows[1], &z = first.rows[2];
  const auto& ranges = first.ranges;
  const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
  Kernel& kernel = steep_ && steep ? *steep_ : kernel_;
  const auto launch = [&](const auto&... last) {
    kernel.launch(queue, grid_, samples, number(image_.width), number(image_.height),
                  number(image_.depth), cval_, x.fine, x.steps, ranges[0].minimum,
                  ranges[0].maximum, y.fine, y.steps, ranges[1].minimum, ranges[1].maximum, z.fine,
                  z.steps, ranges[2].minimum, ranges[2].maximum, output, number(output_.width),
                  number(output_.height), number(output_.depth), last...);
  };
  const cl_int groups = number(static_cast<std::int64_t>(grid_.items[0]) / group_items / batch_);
  launch_for_arrays(table_, queue, transforms.size(), axes_at, launch, groups);
  return true;
}

}  // namespace warpalign::opencl
