// Maps the grid to a frame by the position of each pixel.
#pragma once

#include "commands/deformed.hpp"
#include "commands/grid_map.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace warpalign::program {

class PositionsMap : public GridMap {
 public:
  /// `sampler`, of the grid, must outlive this. `width`: of the grid. `nodata`: of planes.
  PositionsMap(Positions positions, std::int64_t width, PositionSampler& sampler,
               std::optional<double> nodata = {})
      : positions_(std::move(positions)), width_(width), sampler_(sampler), nodata_(nodata) {}

  [[nodiscard]] LoadedImage warp(const LoadedImage& plane) override {
    return sampler_.sample(plane, positions_);
  }
  [[nodiscard]] LoadedImage warp_stored(const LoadedImage& plane) override {
    return sampler_.sample(plane, positions_, nodata_);
  }
  [[nodiscard]] Point at(std::int64_t x, std::int64_t y) const override {
    const auto values = positions_.values();
    const auto i = static_cast<std::size_t>(y * width_ + x);
    return {static_cast<double>(values[i]), static_cast<double>(values[i + values.size() / 2])};
  }

 private:
  Positions positions_;
  std::int64_t width_;
  PositionSampler& sampler_;
  std::optional<double> nodata_;
};

}  // namespace warpalign::program
