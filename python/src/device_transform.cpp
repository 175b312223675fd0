// Transforms whose fields lie in the memory of a device.
#include "arrays.hpp"
#include "bindings.hpp"
#include "device_array.hpp"
#include "transform_names.hpp"

#include <warpalign/device_transform.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

using Queue = std::optional<std::uintptr_t>;

void check_doubles(const DeviceArray& array) {
  if (array.type() != PixelType::f64) refuse("points on a device must be float64");
}

void map_grid(const DeviceTransform& self, const PointGrid& grid, const DeviceArray& to,
              OutsideField outside, bool relative, bool x_first, const Queue& queue) {
  check_doubles(to);
  Shape shape = grid.shape;
  shape.depth *= self.dimensions();
  if (to.size() != shape.pixels()) refuse("the output has another size than the grid");
  const ComponentOrder order = x_first ? ComponentOrder::xyz : ComponentOrder::zyx;
  const nb::gil_scoped_release released;
  Image output = to.image(shape);
  to.opened().with_stream(queue, [&](Stream& stream) {
    relative ? self.field(stream, grid, output, outside, order)
             : self.positions(stream, grid, output, outside, order);
  });
}

void map_rows(const DeviceTransform& self, const DeviceArray& points, OutsideField outside,
              bool x_first, const Queue& queue) {
  check_doubles(points);
  const auto dimensions = static_cast<std::size_t>(self.dimensions());
  const auto size = static_cast<std::size_t>(points.size());
  if (size % dimensions != 0) refuse("points must have the shape (points, dimensions)");
  if (size == 0) return;
  const auto step = static_cast<std::ptrdiff_t>(dimensions);
  const nb::gil_scoped_release released;
  Image rows = points.image({points.size(), 1, 1});
  points.opened().with_stream(queue, [&](Stream& stream) {
    self.points(stream, rows, size / dimensions, x_first ? 0 : dimensions - 1,
                {step, x_first ? 1 : -1}, outside);
  });
}

void warp(const DeviceTransform& self, const DeviceArray& image, const DeviceArray& output,
          const SplineModel& spline, const Queue& queue) {
  const int dimensions = self.dimensions();
  const auto rank = static_cast<std::size_t>(dimensions);
  if (image.extents().size() != rank || output.extents().size() != rank) {
    refuse("the image and the output must have the dimensions of the transform");
  }
  const ResampleSpec spec{.spline = spline,
                          .images = {.shape = image.shape(dimensions), .dimensions = dimensions},
                          .output = output.shape(dimensions),
                          .input = image.type(),
                          .output_type = output.type()};
  OpenedDevice& opened = output.opened();
  const nb::gil_scoped_release released;
  const Image from = image.image(spec.images.shape);
  Image to = output.image(spec.output);
  opened.with_stream(queue, [&](Stream& stream) {
    with_plan(opened.device, opened.warp_on_device, spec, [&](WarpOnDevice& work) {
      work.done.wait(stream);
      work.plan.execute(stream, from, self, to);
      work.done.record(stream);
    });
  });
}

}  // namespace

void bind_device_transforms(nb::module_& module) {
  nb::class_<DeviceTransform>(module, "DeviceTransform", "A copy of a transform on a device.")
      .def("__init__",
           [](DeviceTransform* self, const OpenedDevice& opened, const Transform& transform) {
             const nb::gil_scoped_release released;
             new (self) DeviceTransform(opened.device, transform);
           })
      .def_static("is_supported",
                  [](const OpenedDevice& opened, const Transform& transform) {
                    return DeviceTransform::is_supported(opened.device, transform);
                  })
      .def(
          "field",
          [](const DeviceTransform& self, const PointGrid& grid, const DeviceArray& to,
             const std::string& outside, bool relative, bool x_first, const Queue& queue) {
            map_grid(self, grid, to, outside_named(outside), relative, x_first, queue);
          },
          nb::arg("grid"), nb::arg("to"), nb::arg("outside"), nb::arg("relative"),
          nb::arg("x_first"), nb::arg("queue").none(), "Does not wait.")
      .def(
          "points",
          [](const DeviceTransform& self, const DeviceArray& points, const std::string& outside,
             bool x_first, const Queue& queue) {
            map_rows(self, points, outside_named(outside), x_first, queue);
          },
          nb::arg("points"), nb::arg("outside"), nb::arg("x_first"), nb::arg("queue").none(),
          "Maps rows of coordinates in place. Does not wait.")
      .def("warp", &warp, nb::arg("image"), nb::arg("output"), nb::arg("spline"),
           nb::arg("queue").none(),
           "Evaluates an image's spline where the output's pixels lead. Does not wait.");
}

}  // namespace warpalign::python
