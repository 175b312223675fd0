// The mean of those frames of a stack that have been aligned so far.
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
  /// `mask`: as load_mask() makes them, the same for every frame.
  RunningMean(const Shape& shape, const std::optional<LoadedImage>& mask);

  /// Adds a frame's gray levels where it covers the first frame's grid. Nothing is added where
  /// the spline would draw on a masked pixel.
  void add(const LoadedImage& frame, GridMap& map);

  /// Adds a frame's gray levels where they stand, those that are finite.
  void add_unmoved(const LoadedImage& frame);

  /// In gray levels (gray_levels.hpp), f32; 0 where no frame counted.
  [[nodiscard]] LoadedImage mean() const;
  /// Where at least one frame counted. Empty if there is no mask, since the first frame then counts
  /// everywhere.
  [[nodiscard]] std::optional<LoadedImage> mask() const;
  /// How many frames counted at each pixel.
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
