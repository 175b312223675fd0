// Maps the grid to a frame by an affine transform.
#pragma once

#include "commands/frame_warper.hpp"
#include "commands/grid_map.hpp"

namespace warpalign::program {

/// Whether a transform moves no point at all.
[[nodiscard]] inline bool is_identity(const Affine& m) {
  return m.a == 1 && m.b == 0 && m.c == 0 && m.d == 0 && m.e == 1 && m.f == 0;
}

class AffineMap : public GridMap {
 public:
  /// `warper` must outlive this.
  AffineMap(const Affine& grid_to_frame, FrameWarper& warper)
      : grid_to_frame_(grid_to_frame), warper_(warper) {}

  [[nodiscard]] LoadedImage warp(const LoadedImage& frame) override {
    return warper_.warp(frame, grid_to_frame_);
  }
  [[nodiscard]] Point at(std::int64_t x, std::int64_t y) const override {
    return grid_to_frame_({static_cast<double>(x), static_cast<double>(y)});
  }

 private:
  Affine grid_to_frame_;
  FrameWarper& warper_;
};

}  // namespace warpalign::program
