// A pair of images for another thread.
#pragma once

#include "registration/pair/context.hpp"

#include <warpalign/device.hpp>

#include <atomic>
#include <optional>

namespace warpalign::detail {

/// A stream and pyramid levels of its own, of the images of another context. Its stream has a low
/// priority: the caller waits for what the search itself enqueues.
class PairFork {
 public:
  explicit PairFork(const Device& device);
  PairFork(const PairFork&) = delete;
  PairFork& operator=(const PairFork&) = delete;

  /// Valid until the pair's images change. `cancelled` may be null.
  [[nodiscard]] PairContext of(const PairContext& pair, const std::atomic<bool>* cancelled);

 private:
  Device device_;
  Stream stream_;
  StageClock clock_;
  Ones ones_;
  GradientFields orientation_;
  std::optional<ImagePyramid> reference_, moving_;
};

}  // namespace warpalign::detail
