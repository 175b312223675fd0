// Stage: whitened log-polar spectra of many images.
#include <warpalign/backend/stages/spectrum/log_polar_spectra.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/spectrum/log_polar_points.hpp"
#include "stages/uploaded.hpp"

#include <warpalign/stages/fft.hpp>

#include <vector>

namespace warpalign {

namespace {

constexpr const char* log_polar_spectra_stage = "log_polar_spectra";

LogPolarSpectraSpec checked(const LogPolarSpectraSpec& spec) {
  detail::check_shape(log_polar_spectra_stage, "the image", spec.image);
  detail::check_shape(log_polar_spectra_stage, "the grid", spec.output);
  if (spec.images < 1) detail::refuse(log_polar_spectra_stage, "there must be at least one image");
  if (!(spec.exponent > 0)) detail::refuse(log_polar_spectra_stage, "the exponent must be above 0");
  return spec;
}

Shape stack_of(const Shape& shape, std::int64_t images) {
  return {shape.width, shape.height, images};
}

backend::LogPolarPoints points_of(const LogPolarSpectraSpec& spec) {
  return detail::log_polar_points({spec.image, spec.output});
}

}  // namespace

LogPolarSpectraPlan::LogPolarSpectraPlan(const Device& device, const LogPolarSpectraSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      radii_(detail::uploaded(device, points_of(spec).radii)),
      directions_(detail::uploaded(device, points_of(spec).directions)) {}

void LogPolarSpectraPlan::execute(Stream& stream, const Image& spectra, Image& output) const {
  detail::check_stream(log_polar_spectra_stage, device_, stream);
  detail::check_image(log_polar_spectra_stage, "the spectra", device_, spectra, PixelType::c32,
                      stack_of(RealFftPlan::half_spectrum(spec_.image), spec_.images));
  detail::check_image(log_polar_spectra_stage, "the output", device_, output, PixelType::f32,
                      stack_of(spec_.output, spec_.images));
  detail::check_distinct(log_polar_spectra_stage, spectra, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(spectra),
                   detail::Access::memory(radii_), detail::Access::memory(directions_),
                   detail::Access::memory(output));
}

}  // namespace warpalign
