// Maps the grid to a frame by a displacement field.
#pragma once

#include "commands/deformed.hpp"
#include "commands/grid_map.hpp"

#include <warpalign/device.hpp>
#include <warpalign/local_motion.hpp>

#include <map>
#include <optional>
#include <vector>

namespace warpalign::program {

/// Resamples frames of one shape through fields. Creates plans and memory once.
class FieldFrameWarper {
 public:
  FieldFrameWarper(const Device& device, const Shape& frame) : device_(device), frame_(frame) {}

  /// Resamples each channel. The result has the frame's type, with integers rounded and saturated,
  /// and is 0 outside the frame. Where too few samples are known, it is missing. Samples are
  /// missing if they have the value `nodata`, or are not finite.
  [[nodiscard]] LoadedImage warp(const LoadedImage& frame, const DisplacementField& field,
                                 std::optional<double> nodata = {});

 private:
  Device device_;
  Shape frame_;
  std::map<PixelType, FieldWarper> warpers_;
  std::optional<PositionSampler> sampler_;  ///< of channels with missing samples
};

class FieldMap : public GridMap {
 public:
  /// `warper` must outlive this. `nodata`: of planes.
  FieldMap(DisplacementField field, FieldFrameWarper& warper, std::optional<double> nodata = {})
      : field_(std::move(field)), warper_(warper), nodata_(nodata) {}

  [[nodiscard]] LoadedImage warp(const LoadedImage& frame) override {
    return warper_.warp(frame, field_);
  }
  [[nodiscard]] LoadedImage warp_stored(const LoadedImage& plane) override {
    return warper_.warp(plane, field_, nodata_);
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
  std::optional<double> nodata_;
};

}  // namespace warpalign::program
