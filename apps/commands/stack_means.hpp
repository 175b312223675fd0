// The means of a stack's frames before and after alignment.
#pragma once

#include "commands/running_mean.hpp"
#include "reports/mean_pictures.hpp"

namespace warpalign::program {

class StackMeans {
 public:
  explicit StackMeans(const Shape& shape) : before_(shape, {}), after_(shape, {}) {}

  /// Adds a reliable frame.
  void add(const LoadedImage& frame, GridMap& map) {
    before_.add_unmoved(frame);
    after_.add(frame, map);
  }
  [[nodiscard]] MeanPictures pictures() const {
    return mean_pictures(before_.mean(), after_.mean(), after_.counts());
  }

 private:
  RunningMean before_;
  RunningMean after_;
};

}  // namespace warpalign::program
