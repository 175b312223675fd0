// Zooms of arrays without aliasing, for `warpalign resample --antialias`.
#include "commands/antialiased_zoom.hpp"

#include "io/usage_error.hpp"
#include "options/sampling_points.hpp"

#include <fmt/format.h>

namespace warpalign::program {

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
  if (!points.zoom) refuse("requires --zoom");
  if (points.shape) refuse("--shape cannot be combined with it; choose the factor of --zoom");
  if (spline.degree == 0) refuse("requires a --degree of 1 or above; degree 0 copies samples");
  if (spline.degree > 1 && spline.prefilter != PrefilterMethod::exact) {
    refuse("requires --prefilter exact");
  }
  if (spline.precision != Precision::full) refuse("requires --precision full");
  const Antialias method = antialias_of_name(*name);
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

Array zoomed(const Device& device, const SplineModel& spline, Antialias method, const Array& array,
             const std::vector<std::int64_t>& extents, PixelType type) {
  Array result = make_array(extents, type);
  const ZoomSpec spec{.spline = spline,
                      .images = {.shape = array.shape(), .dimensions = array.dimensions()},
                      .output = result.shape(),
                      .antialias = method,
                      .input = array.type,
                      .output_type = type};
  Stream stream = device.make_stream();
  ZoomPlan plan(device, spec);
  Image image = device.make_image(spec.input, spec.images.stacked());
  Image output = device.make_image(type, spec.output);
  stream.upload(array.bytes.data(), array.bytes.size(), image.buffer());
  plan.execute(stream, image, output);
  stream.download(output, result.bytes.data(), result.bytes.size());
  return result;
}

}  // namespace warpalign::program
