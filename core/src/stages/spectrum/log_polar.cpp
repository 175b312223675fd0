// Stage: log-polar resampling of a centred spectrum magnitude.
#include <warpalign/stages/log_polar.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/spectrum/log_polar_points.hpp"

#include <warpalign/stages/fft.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign {

namespace {

constexpr const char* log_polar_stage = "log_polar";

LogPolarSpec checked(const LogPolarSpec& spec) {
  detail::check_shape(log_polar_stage, "the image", spec.image);
  detail::check_shape(log_polar_stage, "the grid", spec.output);
  return spec;
}

}  // namespace

backend::LogPolarPoints detail::log_polar_points(const LogPolarSpec& spec) {
  const LogPolarGrid grid = LogPolarPlan::grid(spec);
  const double u_per_radius = static_cast<double>(spec.image.width) / grid.size;
  const double v_per_radius = static_cast<double>(spec.image.height) / grid.size;
  backend::LogPolarPoints points;
  for (std::int64_t i = 0; i < spec.output.width; ++i) {
    points.radii.push_back(static_cast<float>(std::exp(static_cast<double>(i) * grid.log_base)));
  }
  for (std::int64_t j = 0; j < spec.output.height; ++j) {
    const double angle = static_cast<double>(j) * grid.angle_step - std::numbers::pi / 2;
    points.directions.push_back({static_cast<float>(std::max(std::cos(angle), 0.0) * u_per_radius),
                                 static_cast<float>(std::sin(angle) * v_per_radius)});
  }
  return points;
}

LogPolarPlan::LogPolarPlan(const Device& device, const LogPolarSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(
          backend::LogPolar::Setup{spec, detail::log_polar_points(spec)})) {}

void LogPolarPlan::execute(Stream& stream, const Image& magnitude, Image& output) const {
  detail::check_stream(log_polar_stage, device_, stream);
  detail::check_image(log_polar_stage, "the magnitude", device_, magnitude, PixelType::f32,
                      RealFftPlan::half_spectrum(spec_.image));
  detail::check_image(log_polar_stage, "the output", device_, output, PixelType::f32, spec_.output);
  detail::check_distinct(log_polar_stage, magnitude, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(magnitude),
                   detail::Access::memory(output));
}

LogPolarGrid LogPolarPlan::grid(const LogPolarSpec& spec) {
  const LogPolarSpec valid = checked(spec);
  LogPolarGrid grid;
  grid.size = static_cast<double>(std::max(valid.image.width, valid.image.height));
  grid.angle_step = std::numbers::pi / static_cast<double>(valid.output.height);
  grid.log_base = std::log(grid.size) / static_cast<double>(valid.output.width);
  return grid;
}

}  // namespace warpalign
