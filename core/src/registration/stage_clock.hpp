// Device time of the pipeline's stages.
#pragma once

#include <warpalign/registrar.hpp>

#include <string>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// Brackets stages with marks on a timed stream; does nothing on another stream.
class StageClock {
 public:
  explicit StageClock(Stream& stream) : stream_(stream) {}

  /// Runs `work`, which enqueues one stage.
  template <class Work>
  void run(const char* stage, Work&& work) {
    if (!stream_.timed()) return std::forward<Work>(work)();
    Mark from = stream_.mark();
    std::forward<Work>(work)();
    intervals_.push_back({stage, std::move(from), stream_.mark()});
  }

  /// The sums per stage in order of first use, and starts anew. Waits for the work.
  std::vector<StageTiming> take();

 private:
  struct Interval {
    const char* stage;
    Mark from;
    Mark to;
  };
  Stream& stream_;
  std::vector<Interval> intervals_;
};

}  // namespace warpalign::detail
