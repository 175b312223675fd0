// The padded frame of the Fourier-Mellin pipeline: plans, scratch memory and the reference's
// spectra for one frame size.
#include "registration/fourier_mellin/padded_frame.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

constexpr std::int64_t width_multiple = 8;

Shape two_of(const Shape& shape) { return {shape.width, shape.height, 2}; }

}  // namespace

Shape common_padded_size(const Shape& reference, const Shape& moving) {
  return {fft_friendly_size(std::max(reference.width, moving.width), width_multiple),
          fft_friendly_size(std::max(reference.height, moving.height)), 1};
}

PaddedFrame::PaddedFrame(const Device& device, const Shape& padded,
                         const RegistrationOptions& options)
    : device_(device),
      padded_(padded),
      window_(options.window),
      log_polar_spec_{padded, padded},
      rotation_scale_power_spec_{padded, options.log_polar_sigma, false},
      shift_power_spec_{padded, 0.0F, true},
      fft_(device, {padded}),
      fft_pair_(device, {two_of(padded), 2, FftDirections::inverse}),
      magnitude_plan_(device, {padded, options.spectrum_exponent}),
      log_polar_plan_(device, log_polar_spec_),
      rotation_scale_power_(device, rotation_scale_power_spec_),
      shift_power_(device, shift_power_spec_),
      rotation_scale_peak_(device, {padded}),
      shift_peak_(device, {two_of(padded)}),
      warp_(device, {padded, padded}),
      windowed_(device.make_image(PixelType::f32, padded)),
      rotated_(device.make_image(PixelType::f32, padded)),
      surfaces_(device.make_image(PixelType::f32, two_of(padded))),
      spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded))),
      magnitude_(device.make_image(PixelType::f32, RealFftPlan::half_spectrum(padded))),
      log_polar_(device.make_image(PixelType::f32, padded)),
      cross_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded))),
      cross_pair_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(two_of(padded)))),
      reference_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded))),
      reference_log_polar_spectrum_(
          device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded))),
      records_(device.make_buffer(2 * sizeof(PeakRecord))),
      rotation_scale_readback_(device),
      shifts_readback_(device, 2) {}

void PaddedFrame::apodize(Stream& stream, StageClock& clock, const Image& pixels,
                          const Buffer& statistics) {
  const ApodizePlan& plan = apodize_plan_of(pixels.type(), pixels.shape());
  clock.run("sobel_window", [&] { plan.execute(stream, pixels, statistics, windowed_); });
}

const ApodizePlan& PaddedFrame::apodize_plan_of(PixelType type, const Shape& image) {
  return apodize_plans_.get({type, image}, [&] {
    return ApodizePlan(device_, {image, padded_, window_, type, Signal::gradient});
  });
}

void PaddedFrame::log_polar_spectrum(Stream& stream, StageClock& clock, const Image& spectrum,
                                     Image& log_polar_spectrum) {
  clock.run("magnitude", [&] { magnitude_plan_.execute(stream, spectrum, magnitude_); });
  clock.run("log_polar", [&] { log_polar_plan_.execute(stream, magnitude_, log_polar_); });
  clock.run("fft", [&] { fft_.forward(stream, log_polar_, log_polar_spectrum); });
}

void PaddedFrame::set_reference(Stream& stream, StageClock& clock, const Image& pixels,
                                const Buffer& statistics) {
  apodize(stream, clock, pixels, statistics);
  clock.run("fft", [&] { fft_.forward(stream, windowed_, reference_spectrum_); });
  log_polar_spectrum(stream, clock, reference_spectrum_, reference_log_polar_spectrum_);
}

// With p_moving = s R(r) p_reference, the magnitudes obey |M|(rho, phi) = |R|(s rho, phi + r)
// (equation 11). So the moving image's log-polar spectrum is the reference's, shifted by
// (ln s / ln b, r / step), and the correlation peaks at that shift.
RotationScale PaddedFrame::find_rotation_scale(Stream& stream, StageClock& clock,
                                               const Image& moving, const Buffer& statistics) {
  apodize(stream, clock, moving, statistics);
  clock.run("fft", [&] { fft_.forward(stream, windowed_, spectrum_); });
  Image& moving_log_polar_spectrum = spectrum_;  // the spectrum is no longer needed
  log_polar_spectrum(stream, clock, spectrum_, moving_log_polar_spectrum);
  clock.run("cross_power", [&] {
    rotation_scale_power_.execute(stream, reference_log_polar_spectrum_, moving_log_polar_spectrum,
                                  cross_);
  });
  clock.run("inverse_fft", [&] { fft_.inverse(stream, cross_, rotated_); });
  clock.run("peak", [&] { rotation_scale_peak_.execute(stream, rotated_, records_); });
  rotation_scale_readback_.enqueue(stream, records_);

  const Point peak = subpixel_position(rotation_scale_readback_.wait().front());
  const LogPolarGrid grid = LogPolarPlan::grid(log_polar_spec_);
  const auto width = static_cast<double>(padded_.width);
  const auto height = static_cast<double>(padded_.height);
  return {signed_shift(peak.y, height) * grid.angle_step * 180 / std::numbers::pi,
          std::exp(signed_shift(peak.x, width) * grid.log_base)};
}

std::array<Shift, 2> PaddedFrame::find_shifts(Stream& stream, StageClock& clock,
                                              const RotationScale& rotation_scale) {
  const Affine undo =
      Similarity{rotation_scale.rotation_deg, rotation_scale.scale, {}}.matrix(padded_, padded_);
  clock.run("warp", [&] { warp_.execute(stream, windowed_, undo, rotated_); });
  clock.run("fft", [&] { fft_.forward(stream, rotated_, spectrum_); });
  clock.run("cross_power",
            [&] { shift_power_.execute(stream, reference_spectrum_, spectrum_, cross_pair_); });
  clock.run("inverse_fft", [&] { fft_pair_.inverse(stream, cross_pair_, surfaces_); });
  clock.run("peak", [&] { shift_peak_.execute(stream, surfaces_, records_); });
  shifts_readback_.enqueue(stream, records_);

  const std::span<const PeakRecord> records = shifts_readback_.wait();
  const double total = CrossPowerPlan::total_weight(shift_power_spec_);
  const double deviation = std::sqrt(CrossPowerPlan::total_squared_weight(shift_power_spec_));
  std::array<Shift, 2> shifts;
  for (std::size_t opposite = 0; opposite < 2; ++opposite) {
    // The second surface belongs to the image mirrored about pixel (0, 0), x -> -x. A rotation by
    // 180 degrees about the centre of the padded frame, x -> N - 1 - x, differs from it by one
    // pixel.
    const Point peak = subpixel_position(records[opposite]);
    const auto offset = static_cast<double>(opposite);
    shifts[opposite] = {{signed_shift(peak.x + offset, static_cast<double>(padded_.width)),
                         signed_shift(peak.y + offset, static_cast<double>(padded_.height))},
                        static_cast<double>(records[opposite].value) / total,
                        static_cast<double>(records[opposite].value) / deviation};
  }
  return shifts;
}

}  // namespace warpalign::detail
