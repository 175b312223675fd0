// The mean of the frames of a stack that have been aligned so far.
#pragma once

#include "commands/grid_map.hpp"
#include "io/image_file.hpp"

#include <warpalign/geometry.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

class RunningMean {
 public:
  /// `mask`: from load_mask(), the same for every frame.
  RunningMean(const Shape& shape, const std::optional<LoadedImage>& mask);

  /// Resamples a frame to the first frame's grid and adds its gray levels where it covers the grid.
  /// Skips pixels whose spline coefficients depend on a masked pixel.
  void add(const LoadedImage& frame, GridMap& map);

  /// Adds a frame's finite gray levels without resampling.
  void add_unmoved(const LoadedImage& frame);

  /// The mean in gray levels (gray_levels.hpp), f32; 0 where no frame contributed.
  [[nodiscard]] LoadedImage mean() const;
  /// 255 where at least one frame contributed, else 0. Empty without a mask, because the first
  /// frame then contributes everywhere.
  [[nodiscard]] std::optional<LoadedImage> mask() const;
  /// The number of frames that contributed to each pixel.
  [[nodiscard]] std::span<const std::uint32_t> counts() const { return counts_; }

 private:
  [[nodiscard]] bool counts_at(Point in_frame) const;
  [[nodiscard]] bool unmasked_around(Point in_frame) const;

  Shape shape_;
  std::optional<LoadedImage> frame_mask_;
  std::vector<double> sums_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace warpalign::program
