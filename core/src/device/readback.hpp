// Records that are on their way to the host while the stream goes on.
#pragma once

#include "device/access.hpp"
#include "device/check.hpp"

#include <memory>
#include <span>

namespace warpalign::detail {

/// `count` records at the start of a buffer, fetched in two steps.
template <class Record>
class Readback {
 public:
  explicit Readback(const Device& device, std::size_t count = 1)
      : count_(count), readback_(Access::driver(device).make_readback(count * sizeof(Record))) {}

  /// Enqueues their copy. What was enqueued before must have been waited for.
  void enqueue(Stream& stream, const Buffer& source) {
    check_buffer("readback", "the source", stream.device(), source, count_ * sizeof(Record));
    readback_->enqueue(Access::queue(stream), Access::memory(source));
  }

  /// Waits for the copy, not for what was enqueued after it. Valid until the next enqueue.
  [[nodiscard]] std::span<const Record> wait() {
    return {static_cast<const Record*>(readback_->wait()), count_};
  }

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::size_t count_;
  std::unique_ptr<backend::Readback> readback_;
};

}  // namespace warpalign::detail
