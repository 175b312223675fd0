// Zooms and affine transforms of arrays without aliasing, for `warpalign resample --antialias`.
#include "commands/antialiased_zoom.hpp"

#include "io/usage_error.hpp"
#include "options/sampling_points.hpp"

#include <warpalign/stages/antialiased_resample.hpp>

#include <fmt/format.h>

namespace warpalign::program {
namespace {

template <typename Plan, typename Spec>
void execute_once(const Device& device, Plan& plan, const Spec& spec, const Array& array,
                  Array& result) {
  Stream stream = device.make_stream();
  Image image = device.make_image(spec.input, spec.images.stacked());
  Image output = device.make_image(spec.output_type, spec.output);
  stream.upload(array.bytes.data(), array.bytes.size(), image.buffer());
  plan.execute(stream, image, output);
  stream.download(output, result.bytes.data(), result.bytes.size());
}

}  // namespace

std::optional<Antialias> antialias_of(const std::optional<std::string>& name,
                                      const PointOptions& points, const SplineModel& spline) {
  if (!name) return std::nullopt;
  if (*name != "gaussian" && *name != "least-squares") {
    throw UsageError(fmt::format(
        "invalid value '{}' for --antialias (choose from: gaussian, least-squares)", *name));
  }
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("--antialias {}: {}", *name, why));
  };
  const Antialias method = antialias_of_name(*name);
  if (!points.zoom && method == Antialias::least_squares) refuse("requires --zoom");
  if (points.zoom && points.shape)
    refuse("--shape cannot be combined with it; choose the factor of --zoom");
  if (spline.degree == 0) refuse("requires a --degree of 1 or above; degree 0 copies samples");
  if (spline.degree > 1 && spline.prefilter != PrefilterMethod::exact) {
    refuse("requires --prefilter exact");
  }
  if (spline.precision != Precision::full) refuse("requires --precision full");
  const Boundary boundary = spline.boundary;
  if (method == Antialias::least_squares && boundary != Boundary::mirror &&
      boundary != Boundary::constant && boundary != Boundary::wrap) {
    refuse(fmt::format("does not support --boundary {}; use mirror", name_of(boundary)));
  }
  return method;
}

void check_projection(std::optional<Antialias> method, const std::vector<std::int64_t>& input,
                      const std::vector<std::int64_t>& output) {
  if (method != Antialias::least_squares) return;
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    if (output[axis] == 1 && input[axis] > 1) {
      throw UsageError(
          "--antialias least-squares: the output has one pixel along an axis; at "
          "least two are needed");
    }
  }
}

void check_grid_of_points(std::optional<Antialias> method, const SamplingPoints& points,
                          const std::vector<std::int64_t>& input) {
  if (!method || !points.coordinates || points.extents.size() == input.size()) return;
  throw UsageError(fmt::format(
      "--antialias gaussian: the points have {} axes and the input {}; a pixel's footprint follows "
      "from its neighbours, so both need the same number",
      points.extents.size(), input.size()));
}

Array warped_without_aliasing(const Device& device, const SplineModel& spline, const Array& array,
                              const SamplingPoints& points, PixelType type) {
  Array result = make_array(points.extents, type);
  const ResampleSpec spec{.spline = spline,
                          .images = {.shape = array.shape(), .dimensions = array.dimensions()},
                          .output = points.stage_shape,
                          .input = array.type,
                          .output_type = type};
  AntialiasedResamplePlan plan(device, spec, points.transform);
  execute_once(device, plan, spec, array, result);
  return result;
}

Array zoomed(const Device& device, const SplineModel& spline, Antialias method, const Array& array,
             const std::vector<std::int64_t>& extents, PixelType type, bool in_double) {
  Array result = make_array(extents, type);
  const ZoomSpec spec{.spline = spline,
                      .images = {.shape = array.shape(), .dimensions = array.dimensions()},
                      .output = result.shape(),
                      .antialias = method,
                      .input = array.type,
                      .output_type = type,
                      .in_double = in_double};
  ZoomPlan plan(device, spec);
  execute_once(device, plan, spec, array, result);
  return result;
}

}  // namespace warpalign::program
