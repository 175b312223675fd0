// The trace that a pattern of the sensor leaves in the residual of two images that were aligned.
#pragma once

#include "registration/numerics/box_sum.hpp"
#include "registration/patterns/aligned_residual.hpp"

#include <warpalign/geometry.hpp>

#include <cstdint>
#include <vector>

namespace warpalign::detail {

/// Where a scene moves under a pattern P, the images differ after alignment by T by P(T x) - P(x)
/// and by noise. So the residual at x resembles its own negative at T x, by up to one half; noise,
/// which differs between the images, does not. Reuses its memory between calls.
class PatternTrace {
 public:
  /// The correlation of the residual with itself at T x, or 0 if it is no lower than the trace
  /// would be of any content: than at three other shifts of the same length. `scene`: T, reference
  /// -> moving pixels, at least 3 pixels from no motion; `gain`: of the moving image. Also 0, after
  /// less work, if the correlation is above `weakest`.
  double find(const SensorImages& images, const Homography& scene, float gain, double weakest = 1);

 private:
  void subtract_offsets();
  [[nodiscard]] double correlation(const Homography& map) const;

  AlignedResidual residual_;
  std::vector<float> mean_;  // a local that keeps its memory
  BoxMean box_;
};

}  // namespace warpalign::detail
