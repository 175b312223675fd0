// Reads and registers frames in the background while earlier frames are resampled and written.
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

/// Which of the next frames of the input to read. Frames between them are skipped.
struct ReadingPlan {
  std::vector<std::size_t> read;  ///< indices, ascending
  std::size_t first = 0;          ///< the index of the input's next frame
  std::size_t end = 0;            ///< one past the last frame that is read or skipped
};

/// A pipeline of at most three batches of frames: one is being read, one is being registered, and
/// the caller has one. Reading and registration each run on their own thread, which uses the input
/// and register_early().
class FramePipeline {
 public:
  /// Both arguments must outlive this object.
  FramePipeline(StackInput& input, StackWork& work) : input_(input), work_(work) {}
  FramePipeline(const FramePipeline&) = delete;
  FramePipeline& operator=(const FramePipeline&) = delete;
  /// Waits until the frame that is being read is complete.
  ~FramePipeline() { is_cancelled_ = true; }

  /// Whether the pipeline accepts another plan.
  [[nodiscard]] bool has_room() const { return batches_.size() < max_batches; }
  void add(ReadingPlan plan);

  /// The next frame in the order of the plans, or nothing at the end of the input. If reading
  /// throws, this function rethrows the exception once the frames before it have been taken. Call
  /// it only for planned frames.
  [[nodiscard]] std::optional<Frame> next();
  /// Waits until all planned frames have been read or skipped. The caller may then use the input.
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
  void register_early(const Batch& batch);

  StackInput& input_;
  StackWork& work_;
  bool reached_end_ = false;  // of the input; used by the reader only
  std::atomic<bool> is_cancelled_ = false;
  Batch current_;
  std::deque<std::future<Batch>> batches_;
  OrderedWorker reader_, finder_;  // last, so that they end before the members they use
};

}  // namespace warpalign::program
