// Asynchronous copies of records to the host while the stream continues.
#pragma once

#include "device/access.hpp"
#include "device/check.hpp"

#include <memory>
#include <span>

namespace warpalign::detail {

/// Copies at most `count` records from the start of a buffer in two steps, enqueue and wait.
template <class Record>
class Readback {
 public:
  explicit Readback(const Device& device, std::size_t count = 1)
      : count_(count), readback_(Access::driver(device).make_readback(count * sizeof(Record))) {}

  /// Enqueues the copy of all records. Wait for the previous copy first.
  void enqueue(Stream& stream, const Buffer& source) { enqueue(stream, source, count_); }
  /// The same for the first `records` records, at least one.
  void enqueue(Stream& stream, const Buffer& source, std::size_t records) {
    if (records < 1 || records > count_) {
      refuse("readback", "the number of records must be 1 to " + std::to_string(count_));
    }
    const std::size_t bytes = records * sizeof(Record);
    check_buffer("readback", "the source", stream.device(), source, bytes);
    readback_->enqueue(Access::queue(stream), Access::memory(source), bytes);
    enqueued_ = records;
  }

  /// Waits for the copy, but not for work that was enqueued after it. The result is valid until the
  /// next enqueue.
  [[nodiscard]] std::span<const Record> wait() {
    check_not_forked();
    return {static_cast<const Record*>(readback_->wait()), enqueued_};
  }

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::size_t count_;
  std::size_t enqueued_ = count_;  ///< records of the last copy
  std::unique_ptr<backend::Readback> readback_;
};

}  // namespace warpalign::detail
