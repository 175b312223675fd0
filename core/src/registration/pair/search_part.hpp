// A part of a search that needs nothing of the rest, and may be done beside it.
#pragma once

#include "registration/pair/pair_work.hpp"
#include "registration/tasks/ahead.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

namespace warpalign::detail {

/// Whether parts of a search are begun before it is known whether they are needed. The kernels of
/// one search fill a small part of a GPU.
[[nodiscard]] bool prefers_parts_ahead(const Device& device);

/// A pair with levels and a stream of its own, for another thread. What the search itself enqueues
/// comes before it.
class PairAside {
 public:
  explicit PairAside(const Device& device);
  /// Valid until the pair's images change. `stop` may be null.
  [[nodiscard]] PairWork show(const PairWork& pair, const std::atomic<bool>* stop);

 private:
  Device device_;
  Stream stream_;
  StageClock clock_;
  std::optional<ImagePyramid> reference_, moving_;
};

/// What the memory of a search depends on.
struct PairShapes {
  explicit PairShapes(const PairWork& pair);
  Shape reference, moving;
  bool reference_masked, moving_masked;
  friend bool operator==(const PairShapes&, const PairShapes&) = default;
};

/// Part searches in steps: search(pair, step), after the steps before it, keeps its result for
/// found(step). A part that has been needed may begin ahead for the next pairs of the same shapes:
/// it has its plans and memory then, and a pair that turns out not to need it waits for neither.
template <class Part>
class SearchPart {
 public:
  /// `ahead`: whether it may. It then has a stream and memory of its own.
  template <class... Arguments>
  SearchPart(const Device& device, bool ahead, const Arguments&... arguments)
      : device_(device),
        may_be_ahead_(ahead),
        part_(device, arguments...),
        ahead_([this] { search_aside(); }) {}

  /// Begins what pairs like this one have needed. The images may not change until drop().
  void begin(const PairWork& pair) {
    note(pair);
    if (!may_be_ahead_ || known_steps_ == 0) return;
    pair_.emplace(pair);
    ahead_.begin();
  }
  /// What the search finds in a step: waits for it where it has begun, or searches now.
  decltype(auto) find(const PairWork& pair, int step = 0) {
    note(pair);
    if (ahead_.begun()) ahead_.wait();
    while (done_ <= step) {
      part_.search(may_be_ahead_ ? shown(pair, nullptr) : pair, done_);
      ++done_;
      known_steps_ = std::max(known_steps_, done_);
      if (may_be_ahead_) ahead_.prepare();
    }
    return part_.found(step);
  }
  /// Whether what was begun goes on, so that find() would wait.
  [[nodiscard]] bool is_at_work() const { return ahead_.is_at_work(); }
  /// Ends the search of a pair. What was begun and is not wanted is told to stop.
  void drop() noexcept {
    ahead_.drop();
    done_ = 0;
    shown_.reset();
  }

 private:
  void note(const PairWork& pair) {
    const PairShapes shapes(pair);
    if (shapes_ == shapes) return;
    shapes_ = shapes;
    known_steps_ = 0;
  }
  const PairWork& shown(const PairWork& pair, const std::atomic<bool>* stop) {
    if (!aside_) aside_.emplace(device_);
    if (!shown_) shown_.emplace(aside_->show(pair, stop));
    return *shown_;
  }
  void search_aside() {
    const PairWork& work = shown(*pair_, &ahead_.stop());
    for (; done_ < known_steps_ && !work.is_stopped(); ++done_) part_.search(work, done_);
    // What is still enqueued reads the pair's images.
    if (work.is_stopped()) work.stream.finish();
  }

  Device device_;
  bool may_be_ahead_;
  Part part_;
  int done_ = 0, known_steps_ = 0;
  std::optional<PairShapes> shapes_;  // for which known_steps_ were needed
  std::optional<PairWork> pair_;
  std::optional<PairAside> aside_;
  std::optional<PairWork> shown_;
  Ahead ahead_;  // whose thread uses the others, and is ended first
};

}  // namespace warpalign::detail
