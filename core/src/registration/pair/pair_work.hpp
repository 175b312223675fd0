// What every step of a search for the transform between two images works with.
#pragma once

#include "registration/pyramid/image_pyramid.hpp"
#include "registration/resources/stage_clock.hpp"
#include "registration/signal/gradient_fields.hpp"

#include <warpalign/device.hpp>

#include <atomic>

namespace warpalign::detail {

struct PairWork {
  Stream& stream;
  StageClock& clock;
  ImagePyramid& reference;
  ImagePyramid& moving;
  /// Where it is set, the directions of edges are compared instead of grey levels.
  GradientFields* fields = nullptr;
  /// Where it is set and becomes true, nobody wants the result: long searches may return anything.
  const std::atomic<bool>* stop = nullptr;
  /// Whether no other pair is searched at the same time, so that the device has room for more.
  bool is_alone = false;

  [[nodiscard]] bool is_stopped() const { return stop != nullptr && *stop; }
};

}  // namespace warpalign::detail
