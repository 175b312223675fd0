// The C interface: B-splines.
#include "c_interface/call.hpp"
#include "c_interface/deformations.hpp"
#include "c_interface/images.hpp"

#include <warpalign/missing.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/transform.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign::c_interface {

namespace {

warpalign_spline_options defaults() {
  const ResampleSpec spec;
  return {sizeof(warpalign_spline_options),
          spec.images.dimensions,
          spec.spline.degree,
          WARPALIGN_PREFILTER_EXACT,
          spec.spline.taps,
          WARPALIGN_MIRROR,
          spec.spline.cval};
}

warpalign_spline_options checked(const warpalign_spline_options* options) {
  if (options == nullptr) return defaults();
  check_size(*options, "options");
  return *options;
}

Boundary boundary_of(warpalign_boundary boundary) {
  constexpr std::array modes{Boundary::mirror,   Boundary::reflect,       Boundary::nearest,
                             Boundary::constant, Boundary::grid_constant, Boundary::wrap,
                             Boundary::grid_wrap};
  static_assert(modes[WARPALIGN_REFLECT] == Boundary::reflect &&
                modes[WARPALIGN_GRID_CONSTANT] == Boundary::grid_constant &&
                modes[WARPALIGN_GRID_WRAP] == Boundary::grid_wrap);
  if (boundary >= 0 && static_cast<std::size_t>(boundary) < modes.size()) {
    return modes[static_cast<std::size_t>(boundary)];
  }
  refuse("invalid value " + std::to_string(boundary) + " for boundary (use WARPALIGN_MIRROR, ...)");
}

std::optional<PrefilterMethod> method_of(warpalign_prefilter_method method) {
  switch (method) {
    case WARPALIGN_PREFILTER_EXACT:
      return PrefilterMethod::exact;
    case WARPALIGN_PREFILTER_FIR:
      return PrefilterMethod::fir;
    case WARPALIGN_PREFILTER_NONE:
      return std::nullopt;
    default:
      refuse("invalid value " + std::to_string(method) +
             " for prefilter (use WARPALIGN_PREFILTER_EXACT, ...)");
  }
}

SplineModel spline_of(const warpalign_spline_options& options) {
  return {.degree = options.degree,
          .prefilter = method_of(options.prefilter),
          .taps = options.taps,
          .boundary = boundary_of(options.boundary),
          .cval = options.cval};
}

PrefilterSpec prefilter_spec(const warpalign_image& samples,
                             const warpalign_spline_options& options) {
  PrefilterSpec spec{.spline = spline_of(options),
                     .images = {.shape = shape_of(samples), .dimensions = options.dimensions},
                     .input = pixel_type(samples.type, "samples")};
  if (!spec.spline.prefilter) {
    refuse("WARPALIGN_PREFILTER_NONE computes no coefficients; choose another prefilter");
  }
  return spec;
}

ResampleSpec resample_spec(const warpalign_image& input, const warpalign_output& output,
                           const warpalign_spline_options& options) {
  return {.spline = spline_of(options),
          .images = {.shape = shape_of(input), .dimensions = options.dimensions},
          .output = shape_of(output),
          .input = pixel_type(input.type, "input"),
          .output_type = pixel_type(output.type, "output")};
}

void resample(const Device& device, const warpalign_image& input, const double* transform,
              const warpalign_spline_options& options, const warpalign_output& output) {
  check_output(output, "output");
  ResamplePlan plan(device, resample_spec(input, output, options));
  Stream stream = device.make_stream();
  const Image image = uploaded(device, stream, input, "input");
  Image result = device.make_image(pixel_type(output.type, "output"), shape_of(output));
  HomogeneousMatrix output_to_input;
  std::copy_n(transform, output_to_input.m.size(), output_to_input.m.begin());
  plan.execute(stream, image, output_to_input, result);
  download(stream, result, output);
}

/// Where a transform puts the pixels of an output: along x, then y, and in space z.
std::vector<float> positions_of(const Transform& transform, const Shape& output) {
  const PointGrid grid{.shape = output};
  const auto axes = static_cast<std::size_t>(transform.dimensions());
  const auto pixels = static_cast<std::size_t>(output.pixels());
  std::vector<float> positions(axes * pixels);
  const std::array<float*, 3> components{positions.data(), positions.data() + pixels,
                                         positions.data() + (axes - 1) * pixels};
  transform.positions(grid, {components.data(), axes});
  return positions;
}

void warp(const Device& device, const Transform& transform, const warpalign_image& input,
          const warpalign_spline_options& options, const warpalign_output& output) {
  check_output(output, "output");
  if (options.dimensions != transform.dimensions()) {
    refuse("options must have " + std::to_string(transform.dimensions()) + " dimensions");
  }
  if (transform.coordinates() != Coordinates::pixels) {
    refuse("the transform maps world coordinates: convert it to pixels");
  }
  if (const auto matrix = transform.matrix()) {
    resample(device, input, matrix->m.data(), options, output);
    return;
  }
  const Shape shape = shape_of(output);
  ResamplePlan plan(device, resample_spec(input, output, options));
  Stream stream = device.make_stream();
  const Image image = uploaded(device, stream, input, "input");
  const std::vector<float> positions = positions_of(transform, shape);
  Image coordinates = device.make_image(
      PixelType::f32, {shape.width, shape.height, shape.depth * transform.dimensions()});
  stream.upload(positions.data(), positions.size() * sizeof(float), coordinates.buffer());
  Image result = device.make_image(pixel_type(output.type, "output"), shape);
  plan.execute(stream, image, coordinates, result);
  download(stream, result, output);
}

void warp(const Device& device, const FoundDeformation& found, const warpalign_image& input,
          const warpalign_spline_options& options, const warpalign_output& output) {
  check_output(output, "output");
  if (shape_of(output) != found.reference) {
    refuse("output must have the reference's size, " + to_string(found.reference));
  }
  warp(device, found.deformation.transform, input, options, output);
}

/// The pixels of an image with dense rows: its own, or copies.
const void* dense_pixels(const warpalign_image& image, std::vector<std::byte>& copies) {
  const Shape shape = shape_of(image);
  const std::size_t row =
      static_cast<std::size_t>(shape.width) * size_of(pixel_type(image.type, "input"));
  if (image.row_bytes == 0 || static_cast<std::size_t>(image.row_bytes) == row) return image.data;
  const HostImage view = host_image(&image, "the input");
  copies.resize(row * static_cast<std::size_t>(shape.height));
  for (std::int64_t y = 0; y < shape.height; ++y) {
    std::memcpy(copies.data() + static_cast<std::size_t>(y) * row,
                static_cast<const std::byte*>(view.data) + y * view.row_bytes, row);
  }
  return copies.data();
}

void check_weights(const warpalign_output& weights, const warpalign_output& output) {
  check_output(weights, "weights");
  if (weights.type == WARPALIGN_F32 && shape_of(weights) == shape_of(output)) return;
  refuse("weights must be f32 of the output's size, " + to_string(shape_of(output)));
}

std::int64_t resample_known(const Device& device, const warpalign_image& input,
                            const double* transform, const warpalign_spline_options& options,
                            const double* nodata, const warpalign_output& output,
                            const warpalign_output* weights) {
  check_output(output, "output");
  if (input.data == nullptr) refuse("the input has no data");
  std::span<float> shares;
  if (weights != nullptr) {
    check_weights(*weights, output);
    shares = {static_cast<float*>(weights->data),
              static_cast<std::size_t>(shape_of(output).pixels())};
  }
  const ResampleSpec spec = resample_spec(input, output, options);
  std::vector<std::byte> copies;
  HomogeneousMatrix output_to_input;
  std::copy_n(transform, output_to_input.m.size(), output_to_input.m.begin());
  const std::optional<double> value = nodata == nullptr ? std::nullopt : std::optional(*nodata);
  return warpalign::resample_known(device, spec, dense_pixels(input, copies), output_to_input,
                                   value, output.data, shares);
}

void check_coefficients(const PrefilterSpec& spec, const warpalign_output& coefficients) {
  check_output(coefficients, "coefficients");
  const Shape expected = PrefilterPlan::coefficient_shape(spec);
  const PixelType type = PrefilterPlan::coefficient_type(spec.input);
  if (shape_of(coefficients) == expected && coefficients.type == type_number(type)) return;
  refuse("coefficients must be " + to_string(expected) + " " + name_of(type) + ", not " +
         to_string(shape_of(coefficients)) + " " +
         name_of(pixel_type(coefficients.type, "coefficients")));
}

void prefilter(const Device& device, const warpalign_image& samples,
               const warpalign_spline_options& options, const warpalign_output& coefficients) {
  const PrefilterSpec spec = prefilter_spec(samples, options);
  const PrefilterPlan plan(device, spec);
  check_coefficients(spec, coefficients);
  Stream stream = device.make_stream();
  const Image image = uploaded(device, stream, samples, "samples");
  Image result = device.make_image(PrefilterPlan::coefficient_type(spec.input),
                                   PrefilterPlan::coefficient_shape(spec));
  plan.execute(stream, image, result);
  download(stream, result, coefficients);
}

}  // namespace

}  // namespace warpalign::c_interface

using namespace warpalign::c_interface;
using warpalign::Device;

warpalign_status warpalign_default_spline_options(warpalign_spline_options* options,
                                                  size_t struct_size) {
  return call([&] {
    check_size<warpalign_spline_options>(struct_size, "options");
    required(options, "options") = defaults();
  });
}

warpalign_status warpalign_resample(warpalign_device device, const warpalign_image* input,
                                    const double transform[16],
                                    const warpalign_spline_options* options,
                                    const warpalign_output* output) {
  return call([&] {
    const auto opened = object_of<Device>(device.id, no_device);
    resample(*opened, required(input, "input"), &required(transform, "transform"), checked(options),
             required(output, "output"));
  });
}

warpalign_status warpalign_warp_deformed(warpalign_device device, warpalign_deformation deformation,
                                         const warpalign_image* input,
                                         const warpalign_spline_options* options,
                                         const warpalign_output* output) {
  return call([&] {
    const auto opened = object_of<Device>(device.id, no_device);
    const auto found = object_of<FoundDeformation>(deformation.id, no_deformation);
    warp(*opened, *found, required(input, "input"), checked(options), required(output, "output"));
  });
}

warpalign_status warpalign_warp(warpalign_device device, warpalign_transform transform,
                                const warpalign_image* input,
                                const warpalign_spline_options* options,
                                const warpalign_output* output) {
  return call([&] {
    const auto opened = object_of<Device>(device.id, no_device);
    const auto kept = object_of<warpalign::Transform>(transform.id, no_transform);
    warpalign_spline_options chosen = checked(options);
    if (options == nullptr) chosen.dimensions = kept->dimensions();
    warp(*opened, *kept, required(input, "input"), chosen, required(output, "output"));
  });
}

warpalign_status warpalign_resample_known(warpalign_device device, const warpalign_image* input,
                                          const double transform[16],
                                          const warpalign_spline_options* options,
                                          const double* nodata, const warpalign_output* output,
                                          const warpalign_output* weights, int64_t* missing) {
  return call([&] {
    const auto opened = object_of<Device>(device.id, no_device);
    const std::int64_t count =
        resample_known(*opened, required(input, "input"), &required(transform, "transform"),
                       checked(options), nodata, required(output, "output"), weights);
    if (missing != nullptr) *missing = count;
  });
}

warpalign_status warpalign_transform_from_affine(const double matrix[6], double transform[16]) {
  return call([&] {
    const double* m = &required(matrix, "matrix");
    const warpalign::HomogeneousMatrix plane(warpalign::Affine{m[0], m[1], m[2], m[3], m[4], m[5]});
    std::copy(plane.m.begin(), plane.m.end(), &required(transform, "transform"));
  });
}

warpalign_status warpalign_transform_from_homography(const double homography[9],
                                                     double transform[16]) {
  return call([&] {
    warpalign::Homography plane;
    std::copy_n(&required(homography, "homography"), plane.h.size(), plane.h.begin());
    const warpalign::HomogeneousMatrix whole(plane);
    std::copy(whole.m.begin(), whole.m.end(), &required(transform, "transform"));
  });
}

warpalign_status warpalign_prefilter(warpalign_device device, const warpalign_image* samples,
                                     const warpalign_spline_options* options,
                                     const warpalign_output* coefficients) {
  return call([&] {
    const auto opened = object_of<Device>(device.id, no_device);
    prefilter(*opened, required(samples, "samples"), checked(options),
              required(coefficients, "coefficients"));
  });
}

warpalign_status warpalign_describe_coefficients(const warpalign_image* samples,
                                                 const warpalign_spline_options* options,
                                                 warpalign_output* coefficients) {
  return call([&] {
    const auto spec = prefilter_spec(required(samples, "samples"), checked(options));
    warpalign_output& target = required(coefficients, "coefficients");
    const warpalign::Shape shape = warpalign::PrefilterPlan::coefficient_shape(spec);
    target.type = type_number(warpalign::PrefilterPlan::coefficient_type(spec.input));
    target.width = shape.width;
    target.height = shape.height;
    target.depth = shape.depth;
  });
}
