// Splines in double precision, and copies of the nearest samples, for arrays on host and device.
#include "arrays.hpp"
#include "bindings.hpp"
#include "device_array.hpp"
#include "double_spline_plans.hpp"
#include "opened_device.hpp"
#include "spline_calls.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {

namespace {

Shape all_outputs(const DoubleSplineSpec& spec) {
  return stacked(spec.output, spec.images.dimensions, spec.images.count);
}

Shape points_shape(const DoubleSplineSpec& spec) {
  return {spec.output.width, spec.output.height, spec.output.depth * spec.images.dimensions};
}

}  // namespace

DoubleSplineWork::DoubleSplineWork(const Device& device, const DoubleSplineSpec& spec)
    : stream(device.make_stream()),
      images(device.make_image(spec.pixels, spec.images.stacked())),
      output(device.make_image(spec.degree == 0 ? spec.pixels : spec.output_pixels,
                               all_outputs(spec))),
      plan(device, spec),
      device_(device),
      points_shape_(points_shape(spec)),
      bytes_(images.size_bytes() + output.size_bytes() + DoubleSplinePlan::scratch_bytes(spec)) {}

Image& DoubleSplineWork::points() {
  if (!points_) {
    points_.emplace(device_.make_image(PixelType::f64, points_shape_));
    bytes_ += points_->size_bytes();
  }
  return *points_;
}

namespace {

DoubleSplineSpec spec_of(int degree, bool prefilter, const std::string& mode, int margin) {
  return {.degree = degree,
          .prefilter = prefilter,
          .boundary = boundary_of_name(mode),
          .margin = margin};
}

void check_batches(std::size_t images, std::size_t outputs) {
  if (images != outputs || images == 0) {
    refuse("images and output must be batches of the same length");
  }
}

void transform(OpenedDevice& opened, const InputArray& images, const OutputArray& output,
               const std::vector<double>& matrix, int degree, bool prefilter,
               const std::string& mode, int margin, std::uint64_t outside, bool footprints) {
  const int dimensions = static_cast<int>(images.ndim()) - 1;
  check_dimensions(dimensions);
  if (output.ndim() != images.ndim()) refuse("images and output must have the same number of axes");
  check_batches(images.shape(0), output.shape(0));
  const HomogeneousMatrix transform = transform_of(matrix);
  DoubleSplineSpec spec = spec_of(degree, prefilter, mode, margin);
  spec.images = {.shape = shape_of(images, dimensions),
                 .dimensions = dimensions,
                 .count = static_cast<std::int64_t>(images.shape(0))};
  spec.output = shape_of(output, dimensions);
  spec.pixels = pixel_type_of(images.dtype());
  spec.footprints = footprints;
  if (pixel_type_of(output.dtype()) != spec.pixels) {
    refuse("images and output must have the same type");
  }
  const nb::gil_scoped_release released;
  with_plan(opened.device, opened.double_spline, spec, [&](DoubleSplineWork& work) {
    work.stream.upload(images.data(), work.images.size_bytes(), work.images.buffer());
    work.plan.execute(work.stream, work.images, transform, outside, work.output);
    work.stream.download(work.output, output.data(), work.output.size_bytes());
  });
}

void evaluate(OpenedDevice& opened, const InputArray& image, const InputArray& points,
              const OutputArray& output, int degree, bool prefilter, const std::string& mode,
              int margin, std::uint64_t outside, bool footprints) {
  const auto dimensions = static_cast<int>(image.ndim());
  check_dimensions(dimensions);
  if (points.dtype() != nb::dtype<double>()) throw nb::type_error("points must be float64");
  if (points.ndim() < 1 || points.shape(0) != image.ndim() ||
      points.size() != output.size() * image.ndim() || output.size() == 0) {
    refuse("points must have one row of coordinates for each axis of the image");
  }
  DoubleSplineSpec spec = spec_of(degree, prefilter, mode, margin);
  spec.images = {.shape = shape_of(image, dimensions), .dimensions = dimensions};
  spec.output = {static_cast<std::int64_t>(output.size()), 1, 1};
  if (footprints) {
    if (output.ndim() != image.ndim()) {
      refuse("footprints need a grid of points with as many axes as the image");
    }
    spec.output = shape_of(output, dimensions);
    spec.footprints = true;
  }
  spec.pixels = pixel_type_of(image.dtype());
  if (pixel_type_of(output.dtype()) != spec.pixels) {
    refuse("image and output must have the same type");
  }
  const nb::gil_scoped_release released;
  with_plan(opened.device, opened.double_spline, spec, [&](DoubleSplineWork& work) {
    work.stream.upload(image.data(), work.images.size_bytes(), work.images.buffer());
    Image& field = work.points();
    work.stream.upload(points.data(), field.size_bytes(), field.buffer());
    work.plan.execute(work.stream, work.images, field, outside, work.output);
    work.stream.download(work.output, output.data(), work.output.size_bytes());
  });
}

void prefilter(OpenedDevice& opened, const InputArray& images, const OutputArray& output,
               int degree, const std::string& mode) {
  const int dimensions = static_cast<int>(images.ndim()) - 1;
  check_dimensions(dimensions);
  if (images.dtype() != nb::dtype<double>() || output.dtype() != nb::dtype<double>() ||
      images.size() != output.size() || images.size() == 0) {
    refuse("images and coefficients must be float64 arrays of the same shape");
  }
  DoubleSplineSpec spec = spec_of(degree, true, mode, 0);
  spec.images = {.shape = shape_of(images, dimensions),
                 .dimensions = dimensions,
                 .count = static_cast<std::int64_t>(images.shape(0))};
  spec.output = spec.images.shape;
  const nb::gil_scoped_release released;
  with_plan(opened.device, opened.double_spline, spec, [&](DoubleSplineWork& work) {
    work.stream.upload(images.data(), work.images.size_bytes(), work.images.buffer());
    work.plan.prefilter(work.stream, work.images, work.output);
    work.stream.download(work.output, output.data(), work.output.size_bytes());
  });
}

/// The number of samples that SciPy adds at both ends for modes whose extension it cannot filter.
constexpr int scipy_padding = 12;

/// The spec of a spline of arrays on the device, of which the plan converts the types.
DoubleSplineSpec spec_on_device(const DeviceArray& images, const DeviceArray& output,
                                int dimensions, int degree, bool prefilter, const std::string& mode,
                                bool footprints) {
  DoubleSplineSpec spec = spec_of(degree, prefilter, mode, 0);
  spec.images = {.shape = images.shape(dimensions),
                 .dimensions = dimensions,
                 .count = images.batch(dimensions)};
  spec.pixels = images.type();
  if (degree == 0) return spec;
  spec.output_pixels = output.type();
  spec.footprints = footprints;
  const bool extends =
      spec.boundary == Boundary::nearest || spec.boundary == Boundary::grid_constant;
  if (prefilter && degree > 1 && extends) spec.padding = scipy_padding;
  return spec;
}

/// Calls run(plan, stream), ordered with the queue.
template <typename Run>
void enqueue(OpenedDevice& opened, const DoubleSplineSpec& spec,
             const std::optional<std::uintptr_t>& queue, Run&& run) {
  opened.with_stream(queue, [&](Stream& stream) {
    with_plan(opened.device, opened.double_spline_on_device, spec, [&](DoubleSplineOnDevice& work) {
      // Another queue may still use the plan's memory.
      work.done.wait(stream);
      run(work.plan, stream);
      work.done.record(stream);
    });
  });
}

void transform_on_device(OpenedDevice& opened, const DeviceArray& images, const DeviceArray& output,
                         int dimensions, const std::vector<double>& matrix, int degree,
                         bool prefilter, const std::string& mode, std::uint64_t outside,
                         bool footprints, const std::optional<std::uintptr_t>& queue) {
  check_dimensions(dimensions);
  check_batches(static_cast<std::size_t>(images.batch(dimensions)),
                static_cast<std::size_t>(output.batch(dimensions)));
  const HomogeneousMatrix transform = transform_of(matrix);
  DoubleSplineSpec spec =
      spec_on_device(images, output, dimensions, degree, prefilter, mode, footprints);
  spec.output = output.shape(dimensions);
  const nb::gil_scoped_release released;
  const Image from = images.image(spec.images.stacked());
  Image to = output.image(all_outputs(spec));
  enqueue(opened, spec, queue, [&](const DoubleSplinePlan& plan, Stream& stream) {
    plan.execute(stream, from, transform, outside, to);
  });
}

void evaluate_on_device(OpenedDevice& opened, const DeviceArray& image, const DeviceArray& points,
                        const DeviceArray& output, int degree, bool prefilter,
                        const std::string& mode, std::uint64_t outside, bool footprints,
                        const std::optional<std::uintptr_t>& queue) {
  const auto dimensions = static_cast<int>(image.extents().size());
  check_dimensions(dimensions);
  if (points.type() != PixelType::f64 || points.size() != output.size() * dimensions) {
    refuse("points must be float64, with one coordinate for each axis and point");
  }
  DoubleSplineSpec spec =
      spec_on_device(image, output, dimensions, degree, prefilter, mode, footprints);
  spec.output = {output.size(), 1, 1};
  if (footprints) {
    if (output.extents().size() != image.extents().size()) {
      refuse("footprints need a grid of points with as many axes as the image");
    }
    spec.output = output.shape(dimensions);
  }
  const nb::gil_scoped_release released;
  const Image from = image.image(spec.images.shape);
  const Image field = points.image(points_shape(spec));
  Image to = output.image(spec.output);
  enqueue(opened, spec, queue, [&](const DoubleSplinePlan& plan, Stream& stream) {
    plan.execute(stream, from, field, outside, to);
  });
}

void prefilter_on_device(OpenedDevice& opened, const DeviceArray& samples,
                         const DeviceArray& output, int dimensions, int degree,
                         const std::string& mode, const std::optional<std::uintptr_t>& queue) {
  check_dimensions(dimensions);
  if (samples.extents() != output.extents() || output.type() != PixelType::f64) {
    refuse("coefficients must be float64, in the shape of the samples");
  }
  DoubleSplineSpec spec = spec_on_device(samples, output, dimensions, degree, false, mode, false);
  spec.prefilter = true;
  spec.output = spec.images.shape;
  const nb::gil_scoped_release released;
  const Image from = samples.image(spec.images.stacked());
  Image to = output.image(spec.images.stacked());
  enqueue(opened, spec, queue,
          [&](const DoubleSplinePlan& plan, Stream& stream) { plan.prefilter(stream, from, to); });
}

}  // namespace

void bind_double_splines(nb::module_& module) {
  module.def(
      "transform_double", &transform, nb::arg("device"), nb::arg("images").noconvert(),
      nb::arg("output").noconvert(), nb::arg("matrix"), nb::arg("order"), nb::arg("prefilter"),
      nb::arg("mode"), nb::arg("margin"), nb::arg("outside"), nb::arg("footprints") = false,
      "Evaluate the splines of a batch in double precision under a transform, like "
      "transform_images(); at order 0, copy the nearest samples of any type. `outside` holds "
      "the bits of the value beyond the edges. With `footprints`, results are means over them.");
  module.def("evaluate_double", &evaluate, nb::arg("device"), nb::arg("image").noconvert(),
             nb::arg("points").noconvert(), nb::arg("output").noconvert(), nb::arg("order"),
             nb::arg("prefilter"), nb::arg("mode"), nb::arg("margin"), nb::arg("outside"),
             nb::arg("footprints") = false,
             "The same at points: first all x, then all y, then all z.");
  module.def("prefilter_double", &prefilter, nb::arg("device"), nb::arg("images").noconvert(),
             nb::arg("output").noconvert(), nb::arg("order"), nb::arg("mode"),
             "Compute the coefficients of a batch of float64 arrays in double precision.");
  module.def(
      "transform_double_on_device", &transform_on_device, nb::arg("device"), nb::arg("images"),
      nb::arg("output"), nb::arg("dimensions"), nb::arg("matrix"), nb::arg("order"),
      nb::arg("prefilter"), nb::arg("mode"), nb::arg("outside"), nb::arg("footprints"),
      nb::arg("queue").none(),
      "Like transform_double(), for arrays on the device, whose types may differ above order "
      "0. Does not wait for the result.");
  module.def("evaluate_double_on_device", &evaluate_on_device, nb::arg("device"), nb::arg("image"),
             nb::arg("points"), nb::arg("output"), nb::arg("order"), nb::arg("prefilter"),
             nb::arg("mode"), nb::arg("outside"), nb::arg("footprints"), nb::arg("queue").none(),
             "The same at points: first all x, then all y, then all z. Does not wait.");
  module.def("prefilter_double_on_device", &prefilter_on_device, nb::arg("device"),
             nb::arg("samples"), nb::arg("output"), nb::arg("dimensions"), nb::arg("order"),
             nb::arg("mode"), nb::arg("queue").none(),
             "Like prefilter_double(), for arrays on the device. Does not wait.");
}

}  // namespace warpalign::python
