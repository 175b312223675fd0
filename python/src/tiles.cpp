// Independent tiles of a transform, for callers that resample them one by one.
#include "arrays.hpp"
#include "bindings.hpp"
#include "opened_device.hpp"
#include "spline_calls.hpp"

#include <warpalign/tiles.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

using Extents = std::array<std::int64_t, 3>;

Shape shape_from(const Extents& extents) { return {extents[0], extents[1], extents[2]}; }

Extents extents_of(const Shape& shape) { return {shape.width, shape.height, shape.depth}; }

ResampleSpec spec_for(const Extents& image, const Extents& output, int dimensions,
                      const SplineModel& spline) {
  return {.spline = spline,
          .images = {.shape = shape_from(image), .dimensions = dimensions},
          .output = shape_from(output)};
}

std::vector<double> matrix_of(const Tile& tile) {
  return {tile.output_to_input.m.begin(), tile.output_to_input.m.end()};
}

}  // namespace

void bind_tiles(nb::module_& module) {
  nb::class_<Tile>(module, "Tile", "A part of an output; extents are in x, y, z order.")
      .def_prop_ro("output_begin", [](const Tile& tile) { return tile.output.begin; })
      .def_prop_ro("output_shape", [](const Tile& tile) { return extents_of(tile.output.shape); })
      .def_prop_ro("input_begin", [](const Tile& tile) { return tile.input.begin; })
      .def_prop_ro("input_shape", [](const Tile& tile) { return extents_of(tile.input.shape); })
      .def_prop_ro("matrix", &matrix_of)
      .def_prop_ro("mode", [](const Tile& tile) { return name_of(tile.boundary); })
      .def_ro("outside", &Tile::outside);
  module.def(
      "tiles",
      [](const Extents& image, const Extents& output, int dimensions,
         const std::vector<double>& matrix, const SplineModel& spline, const Extents& tile) {
        return tiles(spec_for(image, output, dimensions, spline), transform_of(matrix),
                     shape_from(tile));
      },
      "The tiles of one shape that cover an output.");
  module.def(
      "tile_of",
      [](const Extents& image, const Extents& output, int dimensions,
         const std::vector<double>& matrix, const SplineModel& spline, const Extents& begin,
         const Extents& shape) {
        return tile_of(spec_for(image, output, dimensions, spline), transform_of(matrix),
                       Region{begin, shape_from(shape)});
      },
      "The tile for one region of an output.");
  module.def(
      "tile_for_points",
      [](const Extents& image, int dimensions, const SplineModel& spline,
         const std::array<double, 3>& low, const std::array<double, 3>& high) {
        return tile_for_points(spec_for(image, {1, 1, 1}, dimensions, spline),
                               {low[0], low[1], low[2]}, {high[0], high[1], high[2]});
      },
      "The samples needed to evaluate any point of a box.");
  module.def(
      "max_device_memory",
      [](const OpenedDevice& opened) { return max_device_memory(opened.device); },
      "The number of bytes of device memory that a call may use.");
}

}  // namespace warpalign::python
