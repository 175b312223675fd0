// The exact prefilter on GPUs and on CPUs without vectors: x and y in one kernel through local
// memory, then z.
#include "build_options.hpp"
#include "kernel_texts.hpp"
#include "prefilter_passes.hpp"
#include "stages.hpp"

#include <cmath>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "prefilter";

/// Samples of a tile's filtered axis with both halos: 90 x 91 floats are just below the 32 KiB of
/// local memory that every OpenCL 1.2 device has.
constexpr int tile_with_halo = 90;
/// Lines of a tile along an axis that is not filtered.
constexpr int tile_lines = 64;

/// The planes that a pass filters, and what of them.
struct Planes {
  bool first = true;  ///< of the chain
  bool filter_x = true, filter_y = true;
  int step = 1;  ///< floats from a sample of a row to the next
  std::int64_t n_x = 1, n_y = 1;
  cl_ulong source_pitch = 0, source_slice = 0;
  cl_ulong target_pitch = 0, target_slice = 0;
  std::int64_t count = 1;  ///< planes, each component of a complex one counted
  Shape result;
};

Pass tile_pass(const PassMaker& maker, const Planes& planes) {
  const Place place = maker.device.place(stage);
  const int halo = maker.halo();
  const int margin = maker.details.margin;
  const int tile_x = planes.filter_x ? tile_with_halo - 2 * halo : tile_lines;
  const int tile_y = planes.filter_y ? tile_with_halo - 2 * halo : tile_lines;
  const int group = planes.filter_x && planes.filter_y ? 128 : tile_lines;
  const cl_int out_x = to_int(planes.n_x + (planes.filter_x ? 2 * margin : 0), place);
  const cl_int out_y = to_int(planes.n_y + (planes.filter_y ? 2 * margin : 0), place);
  const int axes_before = planes.first ? 0 : 2;
  const int axes = axes_before + (planes.filter_x ? 1 : 0) + (planes.filter_y ? 1 : 0);
  std::string options = pixel_option(maker.source_type(planes.first)) + maker.recursion_options() +
                        int_option("TILE_X", tile_x) + int_option("TILE_Y", tile_y) +
                        int_option("HALO_X", planes.filter_x ? halo : 0) +
                        int_option("HALO_Y", planes.filter_y ? halo : 0) +
                        float_option("GAIN", maker.gain_after(axes)) +
                        int_option("STEP", planes.step) + int_option("GROUP", group);
  if (maker.components() == 2) options += " -D COMPLEX";
  const cl_int tiles_x = (out_x + tile_x - 1) / tile_x;
  const cl_int tiles_y = (out_y + tile_y - 1) / tile_y;
  const std::int64_t tiles = tiles_x * (tiles_y * planes.count);
  const Grid grid{
      {static_cast<std::size_t>(to_int(tiles, place)) * static_cast<std::size_t>(group), 1},
      {static_cast<std::size_t>(group), 1}};
  Kernel kernel(maker.device, stage, kernels::prefilter_tile, "prefilter_tile", options);
  const cl_int n_x = to_int(planes.n_x, place);
  const cl_int n_y = to_int(planes.n_y, place);
  const cl_float cval = maker.cval_after(axes_before);
  return {[=](cl_command_queue queue, cl_mem source, cl_mem target) mutable {
            kernel.launch(queue, grid, source, planes.source_pitch, planes.source_slice, n_x, n_y,
                          target, planes.target_pitch, planes.target_slice, out_x, out_y, margin,
                          tiles_x, tiles_y, cval);
          },
          planes.result};
}

/// Rows of all slices, or slices as planes, from the samples.
Planes rows_and_columns(const PassMaker& maker) {
  const Shape& shape = maker.spec.shape;
  const auto step = static_cast<cl_ulong>(maker.components());
  const bool planar = maker.spec.dimensions >= 2;
  Planes planes;
  planes.filter_y = planar;
  planes.step = maker.components();
  planes.n_x = shape.width;
  planes.n_y = planar ? shape.height : shape.height * shape.depth;
  planes.count = (planar ? shape.depth : 1) * maker.components();
  planes.result = maker.with_margin(shape, 0);
  if (planar) planes.result = maker.with_margin(planes.result, 1);
  planes.source_pitch = static_cast<cl_ulong>(shape.width) * step;
  planes.source_slice = planes.source_pitch * static_cast<cl_ulong>(shape.height);
  planes.target_pitch = static_cast<cl_ulong>(planes.result.width) * step;
  planes.target_slice = planes.target_pitch * static_cast<cl_ulong>(planes.result.height);
  return planes;
}

/// Columns along z: each row y of all slices is a plane.
Planes depth_columns(const PassMaker& maker, const Shape& shape) {
  const auto width = static_cast<cl_ulong>(shape.width * maker.components());
  Planes planes;
  planes.first = false;
  planes.filter_x = false;
  planes.n_x = static_cast<std::int64_t>(width);
  planes.n_y = shape.depth;
  planes.count = shape.height;
  planes.result = maker.with_margin(shape, 2);
  planes.source_pitch = planes.target_pitch = width * static_cast<cl_ulong>(shape.height);
  planes.source_slice = planes.target_slice = width;
  return planes;
}

}  // namespace

std::vector<Pass> tile_passes(const PassMaker& maker) {
  std::vector<Pass> passes{tile_pass(maker, rows_and_columns(maker))};
  if (maker.spec.dimensions == 3) {
    passes.push_back(tile_pass(maker, depth_columns(maker, passes.front().result)));
  }
  return passes;
}

}  // namespace warpalign::opencl
