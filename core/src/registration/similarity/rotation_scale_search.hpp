// Rotation and scale from the log-polar spectra of two pyramid levels (registration paper,
// section 2).
#pragma once

#include "device/readback.hpp"
#include "registration/plan_cache.hpp"
#include "registration/similarity/image_pyramid.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/log_polar.hpp>
#include <warpalign/stages/magnitude.hpp>

#include <array>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Rotation and scale between two levels; the rotation has a 180 degree ambiguity.
struct RotationScalePeak {
  double rotation_deg = 0;
  double scale = 1;   ///< of the moving level's content relative to the reference's
  double height = 0;  ///< of the log-polar correlation; 1 for identical spectra
};

/// Whether both lead to the same place: the shifts are searched for from near enough.
[[nodiscard]] bool are_the_same(const RotationScalePeak& a, const RotationScalePeak& b);

/// The rotations and scales that may be found.
struct RotationScaleLimits {
  /// What the options allow, widened by `slack_deg` on either side and by the factor `slack_scale`.
  static RotationScaleLimits of(const RegistrationOptions& options, double slack_deg = 0,
                                double slack_scale = 1);
  double min_scale = 0, max_scale = 1e9;     ///< between the levels
  double min_angle = -180, max_angle = 180;  ///< degrees, modulo 360
  [[nodiscard]] bool allows_scale(double scale) const;
  [[nodiscard]] bool allows_angle(double degrees) const;
  /// Whether the angle, or the opposite one 180 degrees from it, is allowed.
  [[nodiscard]] bool allows_angle_or_opposite(double degrees) const;
};

/// A rectangular part of a level, given by its upper left corner.
struct Crop {
  std::int64_t x = 0, y = 0;
};

class RotationScaleSearch {
 public:
  /// `side`: of the padded frame on which crops are windowed, and of the log-polar grid.
  RotationScaleSearch(const Device& device, std::int64_t side, const RegistrationOptions& options);

  [[nodiscard]] std::int64_t side() const { return frame_.width; }

  /// The highest peaks of the log-polar correlation of a whole level (at most side() pixels across)
  /// with each of the crops of another level, highest first, at most `maximum` per crop. Waits for
  /// the device. The result is valid until the next call.
  std::span<const RotationScalePeak> find(Stream& stream, StageClock& clock, ImagePyramid& whole,
                                          PyramidLevel& whole_level, ImagePyramid& cropped,
                                          PyramidLevel& cropped_level, std::span<const Crop> crops,
                                          const Shape& crop_shape, bool whole_is_reference,
                                          const RotationScaleLimits& limits, std::size_t maximum);

 private:
  struct CropKey {
    Shape level, crop;
    friend bool operator==(const CropKey&, const CropKey&) = default;
  };
  /// Plans that crop a level and window the result, and memory for the crop.
  struct CropPlans {
    WarpPlan crop;
    StatisticsPlan statistics;
    ApodizePlan window;
    Image pixels;
  };
  CropPlans& crop_plans_of(const Shape& level, const Shape& crop);
  /// The pixels of a level that the search compares.
  const Image& pixels_of(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                         PyramidLevel& level) const;
  void log_polar_spectrum(Stream& stream, StageClock& clock, const Image& level, const Crop& crop,
                          const Shape& crop_shape, Image& result);
  /// Enqueues the correlation of two log-polar spectra, and the copy of it to the host.
  void correlate(Stream& stream, StageClock& clock, const Image& reference, const Image& moving,
                 Readback<float>& values);
  /// Adds the peaks of a correlation to found_.
  void find_peaks(std::span<const float> surface, const RotationScaleLimits& limits,
                  std::size_t maximum);

  Device device_;
  Shape frame_;
  RegistrationOptions options_;
  LogPolarSpec log_polar_spec_;
  CrossPowerSpec power_spec_;
  RealFftPlan fft_;
  MagnitudePlan magnitude_;
  LogPolarPlan log_polar_;
  RadialWhiteningPlan whitening_;
  CrossPowerPlan power_;
  PlanCache<CropKey, CropPlans> crop_plans_{24};
  Buffer statistics_;
  Image windowed_;  // a windowed crop, then its log-polar spectrum
  Image spectrum_, magnitudes_, whole_spectrum_, crop_spectrum_, surface_;
  /// Of two crops in turn: the device goes on with one while the host looks for the other's peaks.
  std::array<Readback<float>, 2> surface_values_;
  std::vector<float> run_maxima_;
  std::vector<RotationScalePeak> found_;
  struct Pixel {
    std::int64_t x, y;
  };
  std::vector<Pixel> peaks_;  // of one surface
};

}  // namespace warpalign::detail
