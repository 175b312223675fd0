// Measures the device time of the pipeline's stages.
#pragma once

#include <warpalign/registrar.hpp>

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// Adds the times of stages that `timings` already has, and appends the other stages.
void add_timings(const std::vector<StageTiming>& more, std::vector<StageTiming>& timings);

/// Places a mark before and after each stage on a timed stream; has no effect on other streams.
class StageClock {
 public:
  explicit StageClock(Stream& stream) : stream_(stream) {}

  [[nodiscard]] Stream& stream() const { return stream_; }

  /// Runs `work`, which enqueues one stage.
  template <class Work>
  void run(const char* stage, Work&& work) {
    if (!stream_.timed()) return std::forward<Work>(work)();
    Mark from = stream_.mark();
    std::forward<Work>(work)();
    intervals_.push_back({stage, std::move(from), stream_.mark()});
  }

  /// Returns the total time of each stage in order of first use and clears the measurements. Waits
  /// for the enqueued work.
  std::vector<StageTiming> take();
  /// Discards the measurements of a call that failed.
  void clear() noexcept { intervals_.clear(); }

  /// Create one at the start of a call. If the call throws, it discards the measurements, so that
  /// the next call does not report them.
  class Call {
   public:
    explicit Call(StageClock& clock) : clock_(clock), exceptions_(std::uncaught_exceptions()) {}
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() {
      if (std::uncaught_exceptions() > exceptions_) clock_.intervals_.clear();
    }

   private:
    StageClock& clock_;
    int exceptions_;
  };

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
