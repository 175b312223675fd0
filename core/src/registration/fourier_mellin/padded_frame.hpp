// The padded frame of the Fourier-Mellin pipeline: plans, scratch memory and the reference's
// spectra for one frame size.
#pragma once

#include "device/readback.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/log_polar.hpp>
#include <warpalign/stages/magnitude.hpp>

#include <array>

namespace warpalign::detail {

/// The smallest padded frame that holds both images unscaled and has an efficient FFT size. The
/// width is a multiple of 8, so that kernels can read the rows as textures without a copy.
Shape common_padded_size(const Shape& reference, const Shape& moving);

/// Rotation and scale from the log-polar correlation. The rotation is known modulo 180 degrees.
struct RotationScale {
  double rotation_deg = 0;
  double scale = 1;
};

/// A shift from phase correlation, in pixels of the padded frame.
struct Shift {
  Point d;                ///< reference(x) = rotated moving(x - d)
  double height = 0;      ///< of the peak; 1 for identical images
  double deviations = 0;  ///< height in standard deviations of the surface of unrelated images
};

class PaddedFrame {
 public:
  PaddedFrame(const Device& device, const Shape& padded, const RegistrationOptions& options);

  [[nodiscard]] const Shape& padded() const { return padded_; }

  /// Enqueues the computation of the reference's spectra. `statistics`, here and below: of the
  /// image's gradient.
  void set_reference(Stream& stream, StageClock& clock, const Image& pixels,
                     const Buffer& statistics);

  /// Enqueues the first stage (Fig. 3 of the paper) and waits for its peak.
  RotationScale find_rotation_scale(Stream& stream, StageClock& clock, const Image& moving,
                                    const Buffer& statistics);

  /// Undoes rotation and scale and finds the shift, for the given rotation [0] and for 180 degrees
  /// more [1]. Call find_rotation_scale() for the same image first. Waits for the device.
  std::array<Shift, 2> find_shifts(Stream& stream, StageClock& clock,
                                   const RotationScale& rotation_scale);

 private:
  /// Writes the windowed gradient, centred on the padded frame, to windowed_.
  void apodize(Stream& stream, StageClock& clock, const Image& pixels, const Buffer& statistics);
  struct ImageKey {
    PixelType type;
    Shape shape;
    friend bool operator==(const ImageKey&, const ImageKey&) = default;
  };
  const ApodizePlan& apodize_plan_of(PixelType type, const Shape& image);
  void log_polar_spectrum(Stream& stream, StageClock& clock, const Image& spectrum,
                          Image& log_polar_spectrum);

  Device device_;
  Shape padded_;
  Window window_;
  LogPolarSpec log_polar_spec_;
  CrossPowerSpec rotation_scale_power_spec_;
  CrossPowerSpec shift_power_spec_;

  // The log-polar grid has the shape of the padded frame (equations 11 and 12 use H and W of the
  // image), so one FFT plan serves both.
  RealFftPlan fft_;
  RealFftPlan fft_pair_;
  MagnitudePlan magnitude_plan_;
  LogPolarPlan log_polar_plan_;
  CrossPowerPlan rotation_scale_power_;
  CrossPowerPlan shift_power_;
  PeakPlan rotation_scale_peak_;
  PeakPlan shift_peak_;
  WarpPlan warp_;
  PlanCache<ImageKey, ApodizePlan> apodize_plans_{2};  // for the reference and for moving images

  Image windowed_;  // the moving image's windowed gradient
  Image rotated_;   // windowed_ with rotation and scale undone; scratch before that
  Image surfaces_;  // two correlation surfaces
  Image spectrum_;  // of the moving image
  Image magnitude_;
  Image log_polar_;
  Image cross_;       // cross-power of the log-polar images
  Image cross_pair_;  // cross-power for both rotations, 180 degrees apart
  Image reference_spectrum_;
  Image reference_log_polar_spectrum_;
  Buffer records_;
  Readback<PeakRecord> rotation_scale_readback_;
  Readback<PeakRecord> shifts_readback_;
};

}  // namespace warpalign::detail
