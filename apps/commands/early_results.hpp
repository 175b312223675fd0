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
/// takes them.
template <class Found>
class EarlyResults {
 public:
  /// Stores one result per frame.
  void put(std::span<const UpcomingFrame> frames, std::vector<Found> found) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      by_index_.emplace(frames[i].index, std::move(found[i]));
    }
  }
  /// Removes and returns the result of a frame, or nothing if it was not registered early.
  [[nodiscard]] std::optional<Found> take(std::size_t index) {
    const std::scoped_lock lock(mutex_);
    auto known = by_index_.extract(index);
    if (!known) return std::nullopt;
    return std::move(known.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, Found> by_index_;
};

}  // namespace warpalign::program
