// Evaluates and prefilters splines between arrays on a device, without copies and without waiting.
#include "bindings.hpp"
#include "device_array.hpp"
#include "spline_calls.hpp"

#include <warpalign/stages/convert.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

using Queue = std::optional<std::uintptr_t>;

ResampleSpec spec_for(const DeviceArray& images, const Shape& output, PixelType output_type,
                      int dimensions, const SplineModel& spline) {
  return {.spline = spline,
          .images = {.shape = images.shape(dimensions), .dimensions = dimensions},
          .output = output,
          .input = images.type(),
          .output_type = output_type};
}

/// Calls run(plan, stream), ordered with the queue. Another queue may still use the memory of a
/// plan from the pool.
template <typename Spec, typename Work, typename Run>
void enqueue(OpenedDevice& opened, PlanPool<Spec, Work>& pool, const Spec& spec, const Queue& queue,
             Run&& run) {
  opened.with_stream(queue, [&](Stream& stream) {
    with_plan(opened.device, pool, spec, [&](Work& work) {
      work.done.wait(stream);
      run(work.plan, stream);
      work.done.record(stream);
    });
  });
}

void transform(OpenedDevice& opened, const DeviceArray& images, const DeviceArray& output,
               int dimensions, const std::vector<double>& matrix, const SplineModel& spline,
               const Queue& queue) {
  check_dimensions(dimensions);
  if (images.batch(dimensions) != output.batch(dimensions)) {
    refuse("images and output must be batches of the same length");
  }
  const HomogeneousMatrix transform = transform_of(matrix);
  ResampleSpec spec = spec_for(images, output.shape(dimensions), output.type(), dimensions, spline);
  spec.images.count = images.batch(dimensions);
  const nb::gil_scoped_release released;
  const Image from = images.image(spec.images.stacked());
  Image to = output.image(stacked(spec.output, dimensions, spec.images.count));
  enqueue(opened, opened.resample_on_device, spec, queue,
          [&](ResamplePlan& plan, Stream& stream) { plan.execute(stream, from, transform, to); });
}

/// Arranges points in rows that are long enough to keep a device busy, if their number allows it.
Shape layout_of(const DeviceArray& output, int dimensions) {
  const std::int64_t points = output.size();
  if (output.extents().size() == static_cast<std::size_t>(dimensions)) {
    return output.shape(dimensions);
  }
  if (dimensions == 1) return {points, 1, 1};
  if (output.extents().size() >= 2) {
    const std::int64_t width = output.extents().back();
    return {width, points / width, 1};
  }
  std::int64_t width = 4096;
  while (points % width != 0) width /= 2;
  return width < 64 ? Shape{points, 1, 1} : Shape{width, points / width, 1};
}

void evaluate(OpenedDevice& opened, const DeviceArray& image, const DeviceArray& coordinates,
              const DeviceArray& output, const SplineModel& spline, const Queue& queue) {
  const auto dimensions = static_cast<int>(image.extents().size());
  check_dimensions(dimensions);
  if (coordinates.type() != PixelType::f32 || coordinates.size() != output.size() * dimensions) {
    refuse("coordinates must be float32, one for each axis and point");
  }
  const ResampleSpec spec =
      spec_for(image, layout_of(output, dimensions), output.type(), dimensions, spline);
  const nb::gil_scoped_release released;
  const Image from = image.image(spec.images.shape);
  const Image points = coordinates.image(field_shape(spec));
  Image to = output.image(spec.output);
  enqueue(opened, opened.resample_on_device, spec, queue,
          [&](ResamplePlan& plan, Stream& stream) { plan.execute(stream, from, points, to); });
}

void prefilter(OpenedDevice& opened, const DeviceArray& samples, const DeviceArray& output,
               int dimensions, const SplineModel& spline, const Queue& queue) {
  check_dimensions(dimensions);
  if (samples.extents() != output.extents())
    refuse("samples and coefficients must have the same shape");
  const PrefilterSpec spec{.spline = spline,
                           .images = {.shape = samples.shape(dimensions),
                                      .dimensions = dimensions,
                                      .count = samples.batch(dimensions)},
                           .input = samples.type()};
  if (PrefilterPlan::margin(spline.degree, spline.boundary) != 0) {
    refuse("coefficients of this mode need a margin, which is not supported");
  }
  const nb::gil_scoped_release released;
  const Shape shape = spec.images.stacked();
  const Image from = samples.image(shape);
  Image to = output.image(shape);
  enqueue(opened, opened.prefilter_on_device, spec, queue,
          [&](PrefilterPlan& plan, Stream& stream) { plan.execute(stream, from, to); });
}

void copy(OpenedDevice& opened, const DeviceArray& source, const DeviceArray& target,
          const Queue& queue) {
  if (source.extents() != target.extents()) refuse("source and target must have the same shape");
  if (source.size() == 0) return;
  const nb::gil_scoped_release released;
  opened.with_stream(queue, [&](Stream& stream) {
    if (source.type() == target.type()) {
      Buffer to = target.buffer();
      stream.copy(source.buffer(), to);
      return;
    }
    const Shape line{source.size(), 1, 1};
    Image to = target.image(line);
    const ConvertPlan plan(opened.device, {line, source.type(), target.type()});
    plan.execute(stream, source.image(line), to);
  });
}

}  // namespace

void bind_device_splines(nb::module_& module) {
  module.def("transform_on_device", &transform, nb::arg("device"), nb::arg("images"),
             nb::arg("output"), nb::arg("dimensions"), nb::arg("matrix"), nb::arg("spline"),
             nb::arg("queue").none(),
             "Like transform_images(), for arrays on the device. It does not wait for the work.");
  module.def("evaluate_on_device", &evaluate, nb::arg("device"), nb::arg("image"),
             nb::arg("coordinates"), nb::arg("output"), nb::arg("spline"), nb::arg("queue").none(),
             "Evaluate an image's spline at points, all x before all y. It does not wait.");
  module.def("prefilter_on_device", &prefilter, nb::arg("device"), nb::arg("samples"),
             nb::arg("output"), nb::arg("dimensions"), nb::arg("spline"), nb::arg("queue").none(),
             "Like prefilter_arrays(), for arrays on the device. It does not wait.");
  module.def("copy_on_device", &copy, nb::arg("device"), nb::arg("source"), nb::arg("target"),
             nb::arg("queue").none(), "Copy an array to another, whose type may differ.");
}

}  // namespace warpalign::python
