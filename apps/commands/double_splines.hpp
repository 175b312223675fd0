// Splines in double precision for the commands of interpolation.
#pragma once

#include "io/npy.hpp"
#include "options/sampling_points.hpp"

#include <warpalign/device.hpp>
#include <warpalign/stages/double_spline.hpp>
#include <warpalign/stages/spline_model.hpp>

#include <optional>

namespace warpalign::program {

/// Throws UsageError if the device has no double precision, or the array is complex. `what` names
/// the array, `option` the option that needs double precision.
void check_double(const Device& device, const Array& array, const std::string& what,
                  const std::string& option = "--precision double");

/// Resamples arrays of one shape at the same points, whose coordinates are f64.
class DoubleResampler {
 public:
  /// `footprints`: whether each result is the mean over the footprint of its pixel.
  DoubleResampler(const Device& device, const SplineModel& spline, const Array& first,
                  const SamplingPoints& points, bool footprints = false);
  /// `to`: the type of the output. Throws Error(out_of_memory): the whole array must fit the
  /// device.
  [[nodiscard]] Array resample(const Array& channel, PixelType to);

 private:
  SplineModel spline_;
  const SamplingPoints& points_;
  std::int64_t margin_;
  Stream stream_;
  DoubleSplinePlan plan_;
  Image input_, output_;
  std::optional<Image> coordinates_;
};

/// The coefficients of samples, with `margin` coefficients beyond each edge.
[[nodiscard]] Array double_coefficients(const Device& device, const SplineModel& spline,
                                        const Array& samples, std::int64_t margin);

}  // namespace warpalign::program
