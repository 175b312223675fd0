// How much an image resembles itself at other shifts.
#pragma once

#include "device/readback.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/spectrum/autocorrelation_peaks.hpp>
#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::detail {

/// Correlates a locally normalized image with itself. Where the image repeats itself, any image
/// that matches it matches it at other shifts as well.
class SelfSimilarity {
 public:
  SelfSimilarity(const Device& device, const Shape& image);
  /// `image`: f32, with mean 0.
  void enqueue(StageClock& clock, const Image& image);
  /// The highest correlation coefficient of the last image with itself at a local maximum away from
  /// shift 0, of shifts up to half its sides. Waits for the device.
  [[nodiscard]] double coefficient();

 private:
  Shape padded_;
  WarpPlan pad_;
  RealFftPlan forward_, inverse_;
  OverlapProductsPlan products_;
  AutocorrelationPeaksPlan peaks_;
  Image frame_, spectrum_, product_, surfaces_;
  Buffer on_device_;
  Readback<float> on_host_;
  bool is_fetching_ = false;
  double coefficient_ = 0;
};

}  // namespace warpalign::detail
