// Evaluation on CPUs, sixteen neighbouring pixels at a time.
#include "spline/cpu/interpolate_cpu.hpp"

#include "device/build_options.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "spline/fixed_point.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace warpalign::opencl {

namespace {

constexpr double max_coordinate = 0x1p21;  // coordinate in fixed point, with room for a row's end

/// The tile of the output that a work-item computes, in pixels.
constexpr cl_int tile_x = 128;
constexpr cl_int tile_y = 32;

int components_of(const InterpolateSpec& spec) {
  return spec.coefficients == PixelType::c32 ? 2 : 1;
}

/// The floats that are loaded for a row of neighbours, rounded up to a vector size: 1, 2, 4, 8 or
/// 16.
int loaded_floats(const InterpolateSpec& spec) {
  int floats = 1;
  while (floats < (spec.spline.degree + 1) * components_of(spec)) floats *= 2;
  return floats;
}

cl_long fixed(double value) { return to_fixed(value, WA_CPU_FRACTION_BITS); }

std::size_t tiles_of(const InterpolateSpec& spec) {
  const std::int64_t rows = spec.output.height * spec.output.depth * spec.images.count;
  return static_cast<std::size_t>(divide_up(spec.output.width, tile_x) * divide_up(rows, tile_y));
}

std::string options_for(const InterpolateSpec& spec, const backend::InterpolateDetails& details,
                        bool field) {
  return spline_options(spec, details) + int_option("LOADED", loaded_floats(spec)) +
         (field ? " -D FIELD_POINTS" : batch_option(spec.images.count));
}

}  // namespace

bool all_near(const HomogeneousMatrix& transform, const Shape& output) {
  const std::array<std::int64_t, 3> size{output.width, output.height, output.depth};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double* m = transform.m.data() + 4 * axis;
    double reach = std::abs(m[3]);
    for (std::size_t i = 0; i < 3; ++i) reach += std::abs(m[i]) * static_cast<double>(size[i] + 16);
    if (!(reach < max_coordinate)) return false;
  }
  return true;
}

cl_long4 fixed_row(const double* m, double shift) {
  return {{fixed(m[0]), fixed(m[1]), fixed(m[2]), fixed(m[3]) + fixed(shift)}};
}

bool CpuEvaluation::serves(const Context& context, const InterpolateSpec& spec,
                           const Shape& stored) {
  const std::int64_t taps = spec.spline.degree + 1;
  return context.has_vectors() && stored.width >= loaded_floats(spec) / components_of(spec) &&
         (spec.images.dimensions < 2 || stored.height >= taps) &&
         (spec.images.dimensions < 3 || stored.depth >= taps) &&
         stored.pixels() * components_of(spec) <= std::numeric_limits<cl_int>::max();
}

CpuEvaluation::CpuEvaluation(Context& context, const char* stage, From points,
                             const InterpolateSpec& spec,
                             const backend::InterpolateDetails& details, const Shape& stored)
    : spec_(spec),
      details_(details),
      stored_(stored),
      grid_{{tiles_of(spec), 1}, {1, 1}},
      kernel_(context, stage, kernels::interpolate_cpu,
              points == From::field ? "interpolate_field" : "interpolate_cpu",
              options_for(spec, details, points == From::field)) {
  if (spec.images.count > 1) table_.emplace(context, spec.images.count, stage);
}

InterpolateSpec CpuEvaluation::bilinear(const Shape& image, const Shape& output, PixelType pixels) {
  InterpolateSpec spec;
  spec.images.shape = image;
  spec.output = output;
  spec.images.dimensions = 2;
  spec.spline.degree = 1;
  spec.coefficients = pixels;
  spec.output_type = pixels;
  spec.spline.cval = 0;
  return spec;
}

RowsOfArray CpuEvaluation::rows_of(const HomogeneousMatrix& transform) const {
  const Points at = points_of(transform, spec_.output);
  const auto& rows = at.rows;
  const double* m = transform.m.data();
  const double shift = details_.margin + (spec_.spline.degree % 2 == 0 ? 0.5 : 0);
  return {fixed_row(m, shift),
          fixed_row(m + 4, shift),
          fixed_row(m + 8, shift),
          rows[0].nearest,
          rows[1].nearest,
          rows[2].nearest,
          rows[0].rest,
          rows[1].rest,
          rows[2].rest};
}

bool CpuEvaluation::enqueue(cl_command_queue queue, cl_mem coefficients,
                            std::span<const HomogeneousMatrix> transforms,
                            const backend::Memory& output, std::int64_t first) {
  const Shape& out = spec_.output;
  for (const HomogeneousMatrix& transform : transforms) {
    if (!transform.is_affine() || !all_near(transform, out)) return false;
  }
  const RowsOfArray rows = rows_of(transforms.front());
  const auto centre = points_of(transforms.front(), out).centre;
  const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
  const auto launch = [&](const auto&... last) {
    kernel_.launch(queue, grid_, coefficients, number(stored_.width), number(stored_.height),
                   number(stored_.depth), number(details_.margin),
                   static_cast<cl_float>(spec_.spline.cval), rows.row_x, rows.row_y, rows.row_z,
                   rows.rest_x, rows.rest_y, rows.rest_z, centre[0], centre[1], centre[2],
                   rows.fixed_x, rows.fixed_y, rows.fixed_z, tile_x, tile_y, output,
                   static_cast<cl_ulong>(first), number(out.width), number(out.height),
                   number(out.depth), last...);
  };
  launch_for_arrays(
      table_, queue, transforms.size(), [&](std::size_t i) { return rows_of(transforms[i]); },
      launch, number(spec_.images.count));
  return true;
}

void CpuEvaluation::enqueue(cl_command_queue queue, cl_mem coefficients,
                            const std::array<cl_mem, 3>& coordinates, std::int64_t axis_stride,
                            const backend::Memory& output) {
  const Shape& out = spec_.output;
  const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
  kernel_.launch(queue, grid_, coefficients, number(stored_.width), number(stored_.height),
                 number(stored_.depth), number(details_.margin),
                 static_cast<cl_float>(spec_.spline.cval), coordinates[0], coordinates[1],
                 coordinates[2], static_cast<cl_ulong>(axis_stride), tile_x, tile_y, output,
                 number(out.width), number(out.height), number(out.depth));
}

}  // namespace warpalign::opencl
