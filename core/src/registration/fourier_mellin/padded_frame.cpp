// The canvas: plans, scratch memory and the reference's spectra for one common working size.
#include "registration/fourier_mellin/padded_frame.hpp"

#include "registration/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

constexpr std::int64_t width_multiple = 8;

Shape two_of(const Shape& shape) { return {shape.width, shape.height, 2}; }

}  // namespace

Shape common_canvas(const Shape& reference, const Shape& moving) {
  return {fft_friendly_size(std::max(reference.width, moving.width), width_multiple),
          fft_friendly_size(std::max(reference.height, moving.height)), 1};
}

FastCanvas::FastCanvas(const Device& device, const Shape& canvas,
                       const RegistrationOptions& options)
    : device_(device),
      canvas_(canvas),
      window_(options.window),
      log_polar_spec_{canvas, canvas},
      turn_power_spec_{canvas, options.log_polar_sigma, false},
      shift_power_spec_{canvas, 0.0F, true},
      fft_(device, {canvas}),
      fft_pair_(device, {two_of(canvas)}),
      magnitude_plan_(device, {canvas, options.spectrum_exponent}),
      log_polar_plan_(device, log_polar_spec_),
      turn_power_(device, turn_power_spec_),
      shift_power_(device, shift_power_spec_),
      turn_peak_(device, {canvas}),
      shift_peak_(device, {two_of(canvas)}),
      warp_(device, {canvas, canvas}),
      placed_(device.make_image(PixelType::f32, canvas)),
      turned_(device.make_image(PixelType::f32, canvas)),
      surfaces_(device.make_image(PixelType::f32, two_of(canvas))),
      spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(canvas))),
      magnitude_(device.make_image(PixelType::f32, RealFftPlan::half_spectrum(canvas))),
      log_polar_(device.make_image(PixelType::f32, canvas)),
      cross_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(canvas))),
      cross_pair_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(two_of(canvas)))),
      reference_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(canvas))),
      reference_log_polar_spectrum_(
          device.make_image(PixelType::c32, RealFftPlan::half_spectrum(canvas))),
      records_(device.make_buffer(2 * sizeof(PeakRecord))),
      turn_found_(device),
      shifts_found_(device, 2) {}

void FastCanvas::place(Stream& stream, StageClock& clock, const Image& pixels,
                       const Buffer& statistics) {
  const ApodizePlan& apodize = placement_of(pixels.type(), pixels.shape());
  clock.run("sobel_window", [&] { apodize.execute(stream, pixels, statistics, placed_); });
}

const ApodizePlan& FastCanvas::placement_of(PixelType type, const Shape& image) {
  constexpr std::size_t kept = 2;  // the reference's kind and the moving images'
  for (const Placement& placement : placements_) {
    if (placement.type == type && placement.image == image) return placement.plan;
  }
  if (placements_.size() == kept) placements_.erase(placements_.begin());
  const ApodizeSpec spec{image, canvas_, window_, type, Signal::gradient};
  placements_.push_back({type, image, ApodizePlan(device_, spec)});
  return placements_.back().plan;
}

void FastCanvas::log_polar_spectrum(Stream& stream, StageClock& clock, const Image& spectrum,
                                    Image& log_polar_spectrum) {
  clock.run("magnitude", [&] { magnitude_plan_.execute(stream, spectrum, magnitude_); });
  clock.run("log_polar", [&] { log_polar_plan_.execute(stream, magnitude_, log_polar_); });
  clock.run("fft", [&] { fft_.forward(stream, log_polar_, log_polar_spectrum); });
}

void FastCanvas::set_reference(Stream& stream, StageClock& clock, const Image& pixels,
                               const Buffer& statistics) {
  place(stream, clock, pixels, statistics);
  clock.run("fft", [&] { fft_.forward(stream, placed_, reference_spectrum_); });
  log_polar_spectrum(stream, clock, reference_spectrum_, reference_log_polar_spectrum_);
}

// With p_moving = s R(r) p_reference, the magnitudes obey |M|(rho, phi) = |R|(s rho, phi + r)
// (equation 11): the moving image's log-polar spectrum is the reference's, shifted by
// (ln s / ln b, r / step), which is where the correlation peaks.
Turn FastCanvas::find_turn(Stream& stream, StageClock& clock, const Image& moving,
                           const Buffer& statistics) {
  place(stream, clock, moving, statistics);
  clock.run("fft", [&] { fft_.forward(stream, placed_, spectrum_); });
  Image& moving_log_polar_spectrum = spectrum_;  // the spectrum is not needed any more
  log_polar_spectrum(stream, clock, spectrum_, moving_log_polar_spectrum);
  clock.run("cross_power", [&] {
    turn_power_.execute(stream, reference_log_polar_spectrum_, moving_log_polar_spectrum, cross_);
  });
  clock.run("inverse_fft", [&] { fft_.inverse(stream, cross_, turned_); });
  clock.run("peak", [&] { turn_peak_.execute(stream, turned_, records_); });
  turn_found_.enqueue(stream, records_);

  const Point peak = subpixel_position(turn_found_.wait().front());
  const LogPolarGrid grid = LogPolarPlan::grid(log_polar_spec_);
  const auto width = static_cast<double>(canvas_.width);
  const auto height = static_cast<double>(canvas_.height);
  return {signed_shift(peak.y, height) * grid.angle_step * 180 / std::numbers::pi,
          std::exp(signed_shift(peak.x, width) * grid.log_base)};
}

std::array<Shift, 2> FastCanvas::find_shifts(Stream& stream, StageClock& clock, const Turn& turn) {
  const Affine undo = Similarity{turn.rotation_deg, turn.scale, {}}.matrix(canvas_, canvas_);
  clock.run("warp", [&] { warp_.execute(stream, placed_, undo, turned_); });
  clock.run("fft", [&] { fft_.forward(stream, turned_, spectrum_); });
  clock.run("cross_power",
            [&] { shift_power_.execute(stream, reference_spectrum_, spectrum_, cross_pair_); });
  clock.run("inverse_fft", [&] { fft_pair_.inverse(stream, cross_pair_, surfaces_); });
  clock.run("peak", [&] { shift_peak_.execute(stream, surfaces_, records_); });
  shifts_found_.enqueue(stream, records_);

  const std::span<const PeakRecord> records = shifts_found_.wait();
  const double total = CrossPowerPlan::total_weight(shift_power_spec_);
  const double deviation = std::sqrt(CrossPowerPlan::total_squared_weight(shift_power_spec_));
  std::array<Shift, 2> shifts;
  for (std::size_t half_turn = 0; half_turn < 2; ++half_turn) {
    // The second surface belongs to the image mirrored about pixel (0, 0), x -> -x, which a half
    // turn about the canvas's centre, x -> N - 1 - x, precedes by one pixel.
    const Point peak = subpixel_position(records[half_turn]);
    const auto extra = static_cast<double>(half_turn);
    shifts[half_turn] = {{signed_shift(peak.x + extra, static_cast<double>(canvas_.width)),
                          signed_shift(peak.y + extra, static_cast<double>(canvas_.height))},
                         static_cast<double>(records[half_turn].value) / total,
                         static_cast<double>(records[half_turn].value) / deviation};
  }
  return shifts;
}

}  // namespace warpalign::detail
