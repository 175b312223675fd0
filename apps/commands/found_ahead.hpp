// What was found of frames before their turn came.
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

/// Put in by the thread that registers ahead, taken by the one that places frames in their order.
template <class Found>
class FoundAhead {
 public:
  /// One result for each frame.
  void put(std::span<const UpcomingFrame> frames, std::vector<Found> found) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      by_index_.emplace(frames[i].index, std::move(found[i]));
    }
  }
  /// Nothing for a frame that was not registered ahead.
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
