// Zooms and resamples arrays without aliasing, in host memory and on devices.
#include "arrays.hpp"
#include "bindings.hpp"
#include "device_array.hpp"
#include "opened_device.hpp"
#include "spline_calls.hpp"

#include <warpalign/stages/antialiased_resample.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

void zoom_arrays(OpenedDevice& opened, const InputArray& images, const OutputArray& output,
                 int dimensions, const SplineModel& spline, bool align_edges,
                 const std::string& antialias, bool in_double) {
  check_batches(images, output, dimensions);
  ZoomSpec spec{.spline = spline,
                .images = {.shape = shape_of(images, dimensions), .dimensions = dimensions},
                .output = shape_of(output, dimensions),
                .align_edges = align_edges,
                .antialias = antialias_of_name(antialias),
                .input = pixel_type_of(images.dtype()),
                .output_type = pixel_type_of(output.dtype()),
                .in_double = in_double};
  const nb::gil_scoped_release released;
  for_parts(opened.device, images, output,
            [&](const std::byte* from, std::byte* to, std::int64_t count) {
              spec.images.count = count;
              with_plan(opened.device, opened.zoom, spec, [&](ZoomWork& work) {
                work.stream.upload(from, work.image.size_bytes(), work.image.buffer());
                work.plan.execute(work.stream, work.image, work.output);
                work.stream.download(work.output, to, work.output.size_bytes());
              });
            });
}

void zoom_on_device(OpenedDevice& opened, const DeviceArray& images, const DeviceArray& output,
                    int dimensions, const SplineModel& spline, bool align_edges,
                    const std::string& antialias, bool in_double,
                    const std::optional<std::uintptr_t>& queue) {
  check_dimensions(dimensions);
  if (images.batch(dimensions) != output.batch(dimensions)) {
    refuse("images and output must be batches of the same length");
  }
  const ZoomSpec spec{.spline = spline,
                      .images = {.shape = images.shape(dimensions),
                                 .dimensions = dimensions,
                                 .count = images.batch(dimensions)},
                      .output = output.shape(dimensions),
                      .align_edges = align_edges,
                      .antialias = antialias_of_name(antialias),
                      .input = images.type(),
                      .output_type = output.type(),
                      .in_double = in_double};
  const nb::gil_scoped_release released;
  const Image from = images.image(spec.images.stacked());
  Image to = output.image(zoomed_shape(spec));
  opened.with_stream(queue, [&](Stream& stream) {
    with_plan(opened.device, opened.zoom_on_device, spec, [&](ZoomOnDevice& work) {
      // Another queue may still use the plan's memory.
      work.done.wait(stream);
      work.plan.execute(stream, from, to);
      work.done.record(stream);
    });
  });
}

void resample_antialiased(OpenedDevice& opened, const InputArray& images, const OutputArray& output,
                          int dimensions, const std::vector<double>& matrix,
                          const SplineModel& spline) {
  check_batches(images, output, dimensions);
  const HomogeneousMatrix transform = transform_of(matrix);
  ResampleSpec spec{.spline = spline,
                    .images = {.shape = shape_of(images, dimensions),
                               .dimensions = dimensions,
                               .count = static_cast<std::int64_t>(images.shape(0))},
                    .output = shape_of(output, dimensions),
                    .input = pixel_type_of(images.dtype()),
                    .output_type = pixel_type_of(output.dtype())};
  if (spec.images.count == 0) return;
  const nb::gil_scoped_release released;
  AntialiasedResamplePlan plan(opened.device, spec, transform);
  Stream stream = opened.device.make_stream();
  Image from = opened.device.make_image(spec.input, spec.images.stacked());
  Image to = opened.device.make_image(spec.output_type,
                                      stacked(spec.output, dimensions, spec.images.count));
  stream.upload(images.data(), from.size_bytes(), from.buffer());
  plan.execute(stream, from, to);
  stream.download(to, output.data(), to.size_bytes());
}

void resample_antialiased_on_device(OpenedDevice& opened, const DeviceArray& images,
                                    const DeviceArray& output, int dimensions,
                                    const std::vector<double>& matrix, const SplineModel& spline,
                                    const std::optional<std::uintptr_t>& queue) {
  check_dimensions(dimensions);
  if (images.batch(dimensions) != output.batch(dimensions)) {
    refuse("images and output must be batches of the same length");
  }
  const HomogeneousMatrix transform = transform_of(matrix);
  const ResampleSpec spec{.spline = spline,
                          .images = {.shape = images.shape(dimensions),
                                     .dimensions = dimensions,
                                     .count = images.batch(dimensions)},
                          .output = output.shape(dimensions),
                          .input = images.type(),
                          .output_type = output.type()};
  const nb::gil_scoped_release released;
  const Image from = images.image(spec.images.stacked());
  Image to = output.image(stacked(spec.output, dimensions, spec.images.count));
  AntialiasedResamplePlan plan(opened.device, spec, transform);
  opened.with_stream(queue, [&](Stream& stream) { plan.execute(stream, from, to); });
}

}  // namespace

void bind_zoom(nb::module_& module) {
  module.def("zoom_arrays", &zoom_arrays, nb::arg("device"), nb::arg("images").noconvert(),
             nb::arg("output").noconvert(), nb::arg("dimensions"), nb::arg("spline"),
             nb::arg("align_edges"), nb::arg("antialias"), nb::arg("in_double"),
             "Zoom a batch of arrays along their last `dimensions` axes without aliasing.");
  module.def("zoom_on_device", &zoom_on_device, nb::arg("device"), nb::arg("images"),
             nb::arg("output"), nb::arg("dimensions"), nb::arg("spline"), nb::arg("align_edges"),
             nb::arg("antialias"), nb::arg("in_double"), nb::arg("queue").none(),
             "Like zoom_arrays(), for arrays on the device. It does not wait for the work.");
  module.def("resample_antialiased", &resample_antialiased, nb::arg("device"),
             nb::arg("images").noconvert(), nb::arg("output").noconvert(), nb::arg("dimensions"),
             nb::arg("matrix"), nb::arg("spline"),
             "Like transform_images(), by an affine transform and without aliasing.");
  module.def("resample_antialiased_on_device", &resample_antialiased_on_device, nb::arg("device"),
             nb::arg("images"), nb::arg("output"), nb::arg("dimensions"), nb::arg("matrix"),
             nb::arg("spline"), nb::arg("queue").none(),
             "Like resample_antialiased(), for arrays on the device. It does not wait.");
}

}  // namespace warpalign::python
