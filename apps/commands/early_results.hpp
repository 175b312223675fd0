// Results of frames that were registered before their turn.
#pragma once

#include "commands/stack_aligner.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace warpalign::program {

/// The thread that registers frames early stores results; the thread that places them in order
/// takes them. Results belong to one of several images that were tried as the drift's origin.
template <class Found>
class EarlyResults {
 public:
  /// Selects the origin of all following results, and keeps those of other origins.
  void set_origin(std::optional<std::size_t> index) {
    const std::scoped_lock lock(mutex_);
    origin_ = index;
  }
  /// Stores one result per frame.
  void put(std::span<const UpcomingFrame> frames, std::vector<Found> found) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      by_index_.emplace(std::pair(origin_, frames[i].index), std::move(found[i]));
    }
  }
  /// The frames without a result.
  [[nodiscard]] std::vector<UpcomingFrame> without(std::span<const UpcomingFrame> frames) {
    const std::scoped_lock lock(mutex_);
    std::vector<UpcomingFrame> missing;
    for (const UpcomingFrame& frame : frames) {
      if (!by_index_.contains({origin_, frame.index})) missing.push_back(frame);
    }
    return missing;
  }
  /// The result of a frame, or null.
  [[nodiscard]] const Found* find(std::size_t index) {
    const std::scoped_lock lock(mutex_);
    const auto known = by_index_.find({origin_, index});
    return known == by_index_.end() ? nullptr : &known->second;
  }
  /// Removes and returns the result of a frame, or nothing if it was not registered early.
  [[nodiscard]] std::optional<Found> take(std::size_t index) {
    const std::scoped_lock lock(mutex_);
    auto known = by_index_.extract(std::pair(origin_, index));
    if (!known) return std::nullopt;
    return std::move(known.mapped());
  }

 private:
  using Origin = std::optional<std::size_t>;

  std::mutex mutex_;
  Origin origin_;
  std::map<std::pair<Origin, std::size_t>, Found> by_index_;
};

}  // namespace warpalign::program
