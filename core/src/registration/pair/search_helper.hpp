// Another thread that takes a part of a search.
#pragma once

#include "registration/pair/search_part.hpp"
#include "registration/tasks/ahead.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace warpalign::detail {

/// Has a stream of its own, and levels of the pair. The kernels of a search leave half of a GPU
/// idle, because each waits for the one before.
template <class Input, class Found>
class SearchHelper {
 public:
  using Search = std::function<Found(const PairWork&, Input)>;

  /// `search` must not use what the search that is helped uses at the same time. It may find less
  /// once the pair's stop is set.
  SearchHelper(const Device& device, Search search)
      : search_(std::move(search)), aside_(device), ahead_([this] { run(); }) {}

  /// The pair that is searched next. Returns the work of this thread on it.
  PairWork& show(const PairWork& pair) { return work_.emplace(aside_.show(pair, pair.stop)); }

  /// What is found of `input` while the caller does own().
  template <class Own>
  Found beside(Input input, const Own& own) {
    input_ = input;
    ahead_.begin();
    try {
      own();
    } catch (...) {
      ahead_.drop();
      throw;
    }
    if (ahead_.begun()) {
      ahead_.wait();
    } else {
      run();  // there was no thread to be had
    }
    return found_;
  }

 private:
  void run() {
    found_ = search_(*work_, input_);
    // What is still enqueued reads the pair's images.
    if (work_->is_stopped()) work_->stream.finish();
  }

  Search search_;
  PairAside aside_;
  std::optional<PairWork> work_;
  Input input_{};
  Found found_{};
  Ahead ahead_;  // whose thread uses the others, and is ended first
};

}  // namespace warpalign::detail
