// Reads and registers frames before their turn, while others are resampled and written.
#pragma once

#include "commands/ordered_worker.hpp"
#include "commands/stack_input.hpp"
#include "commands/stack_work.hpp"

#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <future>
#include <optional>
#include <vector>

namespace warpalign::program {

/// What is to be done with the frames that follow in the input: those between the frames that are
/// read are passed over.
struct ReadingPlan {
  std::vector<std::size_t> read;  ///< indices, ascending
  std::size_t first = 0;          ///< the index of the input's next frame
  std::size_t end = 0;            ///< behind the last frame that is read or passed over
};

/// Three batches of frames are under way at most: one is read, one is registered, and one is the
/// caller's. The first two on threads of their own, which use the input and look_ahead().
class FramesAhead {
 public:
  /// Both must outlive this.
  FramesAhead(StackInput& input, StackWork& work) : input_(input), work_(work) {}
  FramesAhead(const FramesAhead&) = delete;
  FramesAhead& operator=(const FramesAhead&) = delete;
  /// Waits until a frame that is being read has come.
  ~FramesAhead() { is_given_up_ = true; }

  /// Whether it has room for another plan.
  [[nodiscard]] bool has_room() const { return batches_.size() < max_batches; }
  void add(ReadingPlan plan);

  /// The next frame in the order of the plans; nothing behind the last one. What reading throws is
  /// thrown when the frames before it have been taken. Nothing may be asked for that is not
  /// planned.
  [[nodiscard]] std::optional<Frame> next();
  /// Waits until all that is planned has been read or passed over: then the input is the caller's.
  void settle() {
    reader_.give([] {}).wait();
  }

 private:
  static constexpr std::size_t max_batches = 2;

  struct Batch {
    std::vector<std::size_t> indices;
    std::deque<Frame> frames;
    std::exception_ptr failure;
  };

  Batch read(const ReadingPlan& plan);
  void read_into(Batch& batch, const ReadingPlan& plan);
  void look_ahead(const Batch& batch);

  StackInput& input_;
  StackWork& work_;
  bool reached_end_ = false;  // of the input; the reader's
  std::atomic<bool> is_given_up_ = false;
  Batch current_;
  std::deque<std::future<Batch>> batches_;
  OrderedWorker reader_, finder_;  // last: they end before what they use
};

}  // namespace warpalign::program
