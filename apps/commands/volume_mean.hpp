// The mean of the volumes of a series.
#pragma once

#include "io/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::program {

/// Sums volumes of one shape. Voxels that are NaN or infinite in a volume do not count.
class VolumeMean {
 public:
  VolumeMean() = default;
  explicit VolumeMean(std::size_t voxels) : sums_(voxels), counts_(voxels) {}

  void add(const Array& volume);
  /// Whether a volume was added.
  [[nodiscard]] bool has_volumes() const { return volumes_ > 0; }
  /// The mean as f32, of this shape: slope * mean + intercept; NaN where no volume has a value.
  [[nodiscard]] Array mean(const std::vector<std::int64_t>& extents, double slope = 1,
                           double intercept = 0) const;
  [[nodiscard]] std::size_t volumes() const { return volumes_; }

 private:
  std::vector<double> sums_;
  std::vector<std::uint32_t> counts_;
  std::size_t volumes_ = 0;
};

}  // namespace warpalign::program
