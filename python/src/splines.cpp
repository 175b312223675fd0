// Evaluates and prefilters splines between arrays in host memory.
#include "arrays.hpp"
#include "bindings.hpp"
#include "coordinates.hpp"
#include "opened_device.hpp"
#include "spline_calls.hpp"

#include <warpalign/error.hpp>
#include <warpalign/tiles.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {

std::size_t plan_bytes(const ResampleSpec& spec) {
  const std::int64_t pixels = 2 * spec.images.shape.pixels() + spec.output.pixels();
  return static_cast<std::size_t>(pixels * spec.images.count) * sizeof(float);
}

namespace {

Shape all_outputs(const ResampleSpec& spec) {
  return stacked(spec.output, spec.images.dimensions, spec.images.count);
}

}  // namespace

ResampleWork::ResampleWork(const Device& device, const ResampleSpec& spec)
    : stream(device.make_stream()),
      image(device.make_image(spec.input, spec.images.stacked())),
      output(device.make_image(spec.output_type, all_outputs(spec))),
      plan(device, spec),
      device_(device),
      field_shape_(field_shape(spec)),
      bytes_(image.size_bytes() + output.size_bytes() + plan_bytes(spec)) {}

Image& ResampleWork::coordinates() {
  if (!coordinates_) {
    coordinates_.emplace(device_.make_image(PixelType::f32, field_shape_));
    bytes_ += coordinates_->size_bytes();
  }
  return *coordinates_;
}

PrefilterWork::PrefilterWork(const Device& device, const PrefilterSpec& spec)
    : stream(device.make_stream()),
      samples(device.make_image(spec.input, spec.images.stacked())),
      output(device.make_image(PixelType::f32, spec.images.stacked())),
      plan(device, spec) {}

namespace {

ResampleSpec spec_for(const InputArray& images, const Shape& output, nb::dlpack::dtype output_type,
                      int dimensions, const SplineModel& spline) {
  return {.spline = spline,
          .images = {.shape = shape_of(images, dimensions), .dimensions = dimensions},
          .output = output,
          .input = pixel_type_of(images.dtype()),
          .output_type = pixel_type_of(output_type)};
}

/// Resamples a batch of images in host memory.
void transform_batch(OpenedDevice& opened, const ResampleSpec& spec,
                     const HomogeneousMatrix& transform, const std::byte* from, std::byte* to) {
  with_plan(opened.device, opened.resample, spec, [&](ResampleWork& work) {
    work.stream.upload(from, work.image.size_bytes(), work.image.buffer());
    work.plan.execute(work.stream, work.image, transform, work.output);
    work.stream.download(work.output, to, work.output.size_bytes());
  });
}

/// Calls whole() if a call's memory fits the device. Calls in_tiles() if it does not, or if the
/// device, which other processes may use, runs out of memory.
template <typename Whole, typename InTiles>
void within_memory(OpenedDevice& opened, std::size_t bytes, Whole&& whole, InTiles&& in_tiles) {
  if (bytes > max_device_memory(opened.device)) return in_tiles();
  try {
    return whole();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_memory) throw;
  }
  opened.release_plans();
  in_tiles();
}

/// The device memory of a call. `axes` is the number of coordinates of each point, 0 if a transform
/// defines the points.
std::size_t work_bytes(const ResampleSpec& spec, int axes) {
  const auto pixels = [](const Shape& shape) { return static_cast<std::size_t>(shape.pixels()); };
  return pixels(spec.images.stacked()) * size_of(spec.input) +
         pixels(all_outputs(spec)) *
             (size_of(spec.output_type) + sizeof(float) * static_cast<std::size_t>(axes)) +
         plan_bytes(spec);
}

void transform_images(OpenedDevice& opened, const InputArray& images, const OutputArray& output,
                      int dimensions, const std::vector<double>& matrix,
                      const SplineModel& spline) {
  check_batches(images, output, dimensions);
  const HomogeneousMatrix transform = transform_of(matrix);
  ResampleSpec spec =
      spec_for(images, shape_of(output, dimensions), output.dtype(), dimensions, spline);
  const auto* from = static_cast<const std::byte*>(images.data());
  auto* to = static_cast<std::byte*>(output.data());
  const std::size_t count = images.shape(0);
  if (count == 0) return;
  const nb::gil_scoped_release released;
  const std::size_t image_bytes = images.nbytes() / count;
  const std::size_t output_bytes = output.nbytes() / count;
  const std::int64_t fitting = static_cast<std::int64_t>(
      std::max<std::size_t>(max_device_memory(opened.device) / work_bytes(spec, 0), 1));
  const std::int64_t at_once =
      std::min(arrays_at_once(opened.device, count, image_bytes + output_bytes), fitting);
  spec.images.count = at_once;
  const auto whole = [&] {
    for (std::size_t i = 0; i < count; i += static_cast<std::size_t>(at_once)) {
      spec.images.count = std::min(at_once, static_cast<std::int64_t>(count - i));
      transform_batch(opened, spec, transform, from + i * image_bytes, to + i * output_bytes);
    }
  };
  const auto in_tiles = [&] {
    spec.images.count = 1;
    TiledResampler resampler(opened.device, spec);
    for (std::size_t i = 0; i < count; ++i) {
      resampler.execute(from + i * image_bytes, transform, to + i * output_bytes);
    }
  };
  within_memory(opened, work_bytes(spec, 0), whole, in_tiles);
}

/// The shape of an output of `points` points: that of `output` if it has `dimensions` axes, else
/// rows that are long enough to keep a device busy.
Shape layout_of(const OutputArray& output, int dimensions, std::size_t points) {
  constexpr std::int64_t row = 4096;
  if (output.ndim() == static_cast<std::size_t>(dimensions)) return shape_of(output, dimensions);
  const auto n = static_cast<std::int64_t>(points);
  if (dimensions == 1 || n <= row) return {n, 1, 1};
  return {row, (n + row - 1) / row, 1};
}

/// Coordinates in the library's layout. If the layout has more points than there are, the last one
/// is repeated.
void lay_out_coordinates(const InputArray& coordinates, std::size_t points,
                         const ResampleSpec& spec, std::vector<float>& staged) {
  const auto laid_out = static_cast<std::size_t>(spec.output.pixels());
  const auto stage = [&](const auto* rows) {
    stage_coordinates(rows, points, spec.images.dimensions, spec.images.shape, spec.spline.boundary,
                      staged);
  };
  if (coordinates.dtype() == nb::dtype<float>()) {
    stage(static_cast<const float*>(coordinates.data()));
  } else {
    stage(static_cast<const double*>(coordinates.data()));
  }
  if (laid_out == points) return;
  const auto rows = static_cast<std::size_t>(spec.images.dimensions);
  std::vector<float> padded(laid_out * rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const float* from = staged.data() + row * points;
    float* to = std::copy_n(from, points, padded.data() + row * laid_out);
    std::fill_n(to, laid_out - points, from[points - 1]);
  }
  staged.swap(padded);
}

/// For an image or points that are too large for the device.
void evaluate_in_tiles(OpenedDevice& opened, const ResampleSpec& spec, const InputArray& image,
                       const InputArray& coordinates, const OutputArray& output) {
  std::vector<float> staged;
  lay_out_coordinates(coordinates, output.size(), spec, staged);
  const std::size_t bytes = output.size() * size_of(spec.output_type);
  std::vector<std::byte> values(static_cast<std::size_t>(spec.output.pixels()) *
                                size_of(spec.output_type));
  TiledResampler resampler(opened.device, spec);
  resampler.execute(image.data(), staged, values.data());
  std::copy_n(values.data(), bytes, static_cast<std::byte*>(output.data()));
}

void evaluate_at(OpenedDevice& opened, const InputArray& image, const InputArray& coordinates,
                 const OutputArray& output, const SplineModel& spline) {
  const auto dimensions = static_cast<int>(image.ndim());
  check_dimensions(dimensions);
  const bool is_single = coordinates.dtype() == nb::dtype<float>();
  if (!is_single && coordinates.dtype() != nb::dtype<double>()) {
    throw nb::type_error("coordinates must be float32 or float64");
  }
  const std::size_t points = output.size();
  if (coordinates.ndim() < 1 || coordinates.shape(0) != image.ndim() ||
      coordinates.size() != points * image.ndim()) {
    refuse("coordinates must have a row for each axis of the image");
  }
  const ResampleSpec spec =
      spec_for(image, layout_of(output, dimensions, points), output.dtype(), dimensions, spline);
  const nb::gil_scoped_release released;
  const auto whole = [&] {
    with_plan(opened.device, opened.resample, spec, [&](ResampleWork& work) {
      std::vector<float>& staged = work.staged_coordinates;
      lay_out_coordinates(coordinates, points, spec, staged);
      work.stream.upload(image.data(), work.image.size_bytes(), work.image.buffer());
      Image& field = work.coordinates();
      work.stream.upload(staged.data(), staged.size() * sizeof(float), field.buffer());
      work.plan.execute(work.stream, work.image, field, work.output);
      work.stream.download(work.output.buffer(), output.data(), points * size_of(spec.output_type));
    });
  };
  within_memory(opened, work_bytes(spec, dimensions), whole,
                [&] { evaluate_in_tiles(opened, spec, image, coordinates, output); });
}

void prefilter_batch(OpenedDevice& opened, const PrefilterSpec& spec, const std::byte* from,
                     std::byte* to) {
  with_plan(opened.device, opened.prefilter, spec, [&](PrefilterWork& work) {
    work.stream.upload(from, work.samples.size_bytes(), work.samples.buffer());
    work.plan.execute(work.stream, work.samples, work.output);
    work.stream.download(work.output, to, work.output.size_bytes());
  });
}

void prefilter_arrays(OpenedDevice& opened, const InputArray& samples, const OutputArray& output,
                      int dimensions, const SplineModel& spline) {
  check_dimensions(dimensions);
  if (samples.ndim() != static_cast<std::size_t>(dimensions) + 1 ||
      samples.size() != output.size()) {
    refuse("samples and coefficients must be batches of the same size");
  }
  PrefilterSpec spec{.spline = spline,
                     .images = {.shape = shape_of(samples, dimensions), .dimensions = dimensions},
                     .input = pixel_type_of(samples.dtype())};
  if (PrefilterPlan::margin(spline.degree, spline.boundary) != 0) {
    refuse("coefficients of this mode need a margin, which is not supported");
  }
  if (pixel_type_of(output.dtype()) != PixelType::f32) refuse("coefficients must be float32");
  const nb::gil_scoped_release released;
  for_parts(opened.device, samples, output,
            [&](const std::byte* from, std::byte* to, std::int64_t count) {
              spec.images.count = count;
              prefilter_batch(opened, spec, from, to);
            });
}

}  // namespace

void bind_splines(nb::module_& module) {
  nb::class_<SplineModel>(module, "SplineModel",
                          "A spline: its degree, boundary mode and prefilter.")
      .def(nb::new_(&spline_of), nb::arg("order"), nb::arg("prefilter"), nb::arg("mode"),
           nb::arg("cval") = 0.0);
  module.def("transform_images", &transform_images, nb::arg("device"),
             nb::arg("images").noconvert(), nb::arg("output").noconvert(), nb::arg("dimensions"),
             nb::arg("matrix"), nb::arg("spline"),
             "Resample a batch of images by one transform, a 4 x 4 matrix for (x, y, z, 1) from "
             "output to input, given as 16 numbers row by row.");
  module.def(
      "evaluate_at", &evaluate_at, nb::arg("device"), nb::arg("image").noconvert(),
      nb::arg("coordinates").noconvert(), nb::arg("output").noconvert(), nb::arg("spline"),
      "Evaluate the spline of an image at points, given as a row of coordinates for each axis.");
  module.def("prefilter_arrays", &prefilter_arrays, nb::arg("device"),
             nb::arg("samples").noconvert(), nb::arg("output").noconvert(), nb::arg("dimensions"),
             nb::arg("spline"),
             "Compute the coefficients of a batch of arrays along their last `dimensions` axes.");
}

}  // namespace warpalign::python
