// The residual of two images of one shape after the alignment by a motion, in host memory.
#include "registration/patterns/aligned_residual.hpp"

namespace warpalign::detail {

void AlignedResidual::take(const SensorImages& images, const Homography& motion, float gain) {
  width = images.width;
  height = images.height;
  values.assign(images.reference.size(), 0);
  known.assign(images.reference.size(), 0);
  std::size_t i = 0;
  for (std::int64_t y = 0; y < height; ++y) {
    const CellsOfRow cells(motion, y, width, height);
    for (std::int64_t x = 0; x < width; ++x, ++i) {
      if (!images.reference_weight.empty() && images.reference_weight[i] < full_weight) continue;
      const auto cell = cells.at(x);
      if (!cell) continue;
      if (!images.moving_weight.empty() && cell->sample(images.moving_weight, width) < full_weight)
        continue;
      values[i] = cell->sample(images.moving, width) - gain * images.reference[i];
      known[i] = 1;
    }
  }
}

}  // namespace warpalign::detail
