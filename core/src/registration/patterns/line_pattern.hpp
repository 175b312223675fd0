// Finds columns and rows of a sensor that are brighter or darker than their neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Reuses its memory between calls.
class LinePattern {
 public:
  /// Finds what two images of one shape, row by row, have in common along whole columns and rows.
  /// Returns whether that is notable. `gain`: of the moving image.
  bool find(std::span<const float> reference, std::span<const float> moving, std::int64_t width,
            std::int64_t height, float gain);

  /// Subtracts it from the reference, and `gain` times that from the moving image.
  void subtract(std::span<float> reference, std::span<float> moving) const;

 private:
  void find_offsets(std::span<const float> image, std::int64_t lines, std::int64_t length,
                    std::int64_t across, std::int64_t along, std::vector<float>& offsets);
  bool find_common(std::vector<float>& reference, std::span<const float> moving);

  std::int64_t width_ = 0, height_ = 0;
  float gain_ = 1;
  std::vector<float> columns_, rows_;  // offsets
  std::vector<float> of_moving_, steps_, window_;
};

}  // namespace warpalign::detail
