// Maps the grid to a frame by a displacement field.
#pragma once

#include "commands/grid_map.hpp"

#include <warpalign/device.hpp>
#include <warpalign/local_motion.hpp>

#include <map>
#include <vector>

namespace warpalign::program {

/// Resamples frames of one shape through fields. Creates plans and memory once.
class FieldFrameWarper {
 public:
  FieldFrameWarper(const Device& device, const Shape& frame) : device_(device), frame_(frame) {}

  /// Resamples each channel. The result has the frame's type, with integers rounded and saturated,
  /// and is 0 outside the frame. Non-finite values count as 0.
  [[nodiscard]] LoadedImage warp(const LoadedImage& frame, const DisplacementField& field);

 private:
  Device device_;
  Shape frame_;
  std::map<PixelType, FieldWarper> warpers_;
};

class FieldMap : public GridMap {
 public:
  /// `warper` must outlive this.
  FieldMap(DisplacementField field, FieldFrameWarper& warper)
      : field_(std::move(field)), warper_(warper) {}

  [[nodiscard]] LoadedImage warp(const LoadedImage& frame) override {
    return warper_.warp(frame, field_);
  }
  [[nodiscard]] Point at(std::int64_t x, std::int64_t y) const override {
    if (samples_.empty()) samples_ = field_.samples();
    const auto i = static_cast<std::size_t>(y * field_.frame().width + x);
    return {static_cast<double>(x) + static_cast<double>(samples_[i]),
            static_cast<double>(y) + static_cast<double>(samples_[i + samples_.size() / 2])};
  }

 private:
  DisplacementField field_;
  mutable std::vector<float> samples_;  ///< computed by the first call of at()
  FieldFrameWarper& warper_;
};

}  // namespace warpalign::program
