// The mean of the frames of a stack that were aligned so far.
#pragma once

#include "frame_warper.hpp"
#include "image_io/image_file.hpp"

#include <warpalign/geometry.hpp>

#include <optional>
#include <vector>

namespace warpalign::program {

class RunningMean {
 public:
  /// `mask`: as load_mask() makes them, the same for every frame.
  RunningMean(const Shape& shape, const std::optional<LoadedImage>& mask);

  /// Adds a frame's gray levels where it covers the first frame's grid. Where the spline would take
  /// a masked pixel's part nothing is added.
  void add(const LoadedImage& frame, const Affine& first_to_frame, FrameWarper& warper);

  /// In gray levels (gray_levels.hpp), f32; 0 where no frame counted.
  [[nodiscard]] LoadedImage mean() const;
  /// Where one did; none where there is no mask, since the first frame counts everywhere then.
  [[nodiscard]] std::optional<LoadedImage> mask() const;

 private:
  [[nodiscard]] bool counts(Point in_frame) const;
  [[nodiscard]] bool unmasked_around(Point in_frame) const;

  Shape shape_;
  std::optional<LoadedImage> frame_mask_;
  std::vector<double> sums_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace warpalign::program
