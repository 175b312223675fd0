// The state that every step of a search shares.
#pragma once

#include "registration/pyramid/image_pyramid.hpp"
#include "registration/resources/stage_clock.hpp"
#include "registration/resources/unit_weights.hpp"
#include "registration/signal/gradient_fields.hpp"
#include "registration/signal/signal_kind.hpp"
#include "registration/tasks/thread_budget.hpp"

#include <warpalign/device.hpp>

#include <atomic>

namespace warpalign::detail {

/// A pair of images on one stream. Copies refer to the same images. Another thread works on a fork
/// (PairFork).
struct PairContext {
  Stream& stream;
  StageClock& clock;
  ImagePyramid& reference;
  ImagePyramid& moving;
  UnitWeights& unit_weights;
  GradientFields& orientation;                ///< the gradient orientation fields of both images
  SignalKind signal = SignalKind::intensity;  ///< the compared signal
  /// If set and true, the result is discarded, so a long search may return early.
  const std::atomic<bool>* cancelled = nullptr;
  /// The threads that may work on the pair together. Null: the calling thread alone.
  ThreadBudget* threads = nullptr;

  [[nodiscard]] bool compares_orientation() const { return signal == SignalKind::orientation; }
  [[nodiscard]] bool is_cancelled() const { return cancelled != nullptr && *cancelled; }
  /// The same pair, compared by another signal.
  [[nodiscard]] PairContext comparing(SignalKind other) const {
    PairContext context = *this;
    context.signal = other;
    return context;
  }
  /// Other images instead of the pair's, compared by intensity on the calling thread alone.
  [[nodiscard]] PairContext with_images(ImagePyramid& other_reference,
                                        ImagePyramid& other_moving) const {
    return {stream, clock, other_reference, other_moving, unit_weights, orientation};
  }
};

}  // namespace warpalign::detail
