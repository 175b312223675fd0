// The shift of a scene, from the difference of two images that a pattern of the sensor covers.
#pragma once

#include "registration/patterns/aligned_residual.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/fft.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// What is fixed to the sensor is not in the difference of two images, however strong it is. The
/// difference shows the scene twice, where it is and, negative, where it was, and so resembles its
/// own negative at the scene's shift d and at -d, by up to one half.
class DifferenceShift {
 public:
  explicit DifferenceShift(const Device& device) : device_(device) {}

  /// The shift, or its opposite, in pixels along x and y: more than 4 pixels and up to a quarter of
  /// a side. Nothing if the difference does not resemble its negative anywhere. `gain`: that of the
  /// moving image. Waits for the device.
  std::optional<std::array<double, 2>> find(StageClock& clock, const SensorImages& images,
                                            float gain);

 private:
  struct Plans;
  void draw_difference(const SensorImages& images, float gain);

  Device device_;
  std::shared_ptr<Plans> plans_;      ///< of the last size
  std::vector<float> across_, down_;  ///< the windows
  AlignedResidual residual_;
  std::vector<float> difference_, surfaces_;  // locals that keep their memory
};

}  // namespace warpalign::detail
