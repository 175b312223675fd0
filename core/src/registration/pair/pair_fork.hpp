// A copy of a pair's context for another thread.
#pragma once

#include "registration/pair/context.hpp"

#include <warpalign/device.hpp>

#include <atomic>
#include <optional>

namespace warpalign::detail {

/// A separate stream and separate pyramid levels for the images of a pair. The stream has a low
/// priority, because the caller waits for what the search itself enqueues.
class PairFork {
 public:
  explicit PairFork(const Device& device);
  PairFork(const PairFork&) = delete;
  PairFork& operator=(const PairFork&) = delete;

  /// Returns the forked context, valid until the pair's images change. `cancelled` may be null.
  [[nodiscard]] PairContext of(const PairContext& pair, const std::atomic<bool>* cancelled);

 private:
  Device device_;
  Stream stream_;
  StageClock clock_;
  UnitWeights unit_weights_;
  GradientFields orientation_;
  std::optional<ImagePyramid> reference_, moving_;
};

}  // namespace warpalign::detail
