// How much images resemble themselves at other shifts.
#pragma once

#include "device/readback.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/backend/stages/spectrum/autocorrelation_peaks.hpp>
#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/fft.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace warpalign::detail {

/// Correlates locally normalized images with themselves. Where an image repeats itself, any image
/// that matches it matches it at other shifts as well.
class SelfSimilarity {
 public:
  /// `images`: the number of images, stacked along the depth.
  SelfSimilarity(const Device& device, const Shape& image, std::int64_t images);
  /// `images`: f32.
  void enqueue(StageClock& clock, const Image& images);
  /// The highest correlation coefficient of an image of the last call with itself at a local
  /// maximum away from shift 0, of shifts up to half its sides. Waits for the device.
  [[nodiscard]] double coefficient(std::size_t image);

 private:
  Shape padded_;
  CutWindowsPlan pad_;
  RealFftPlan fft_;
  WindowCrossPowerPlan power_;
  AutocorrelationPeaksPlan peaks_;
  Image frames_, spectra_;
  Buffer means_, on_device_;
  Readback<float> on_host_;
  bool is_fetching_ = false;
  std::span<const float> fetched_;
};

}  // namespace warpalign::detail
