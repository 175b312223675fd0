// Records that kernels write and the host reads later, while the stream continues.
#pragma once

#include "device/access.hpp"
#include "device/check.hpp"
#include "device/readback.hpp"

#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace warpalign::detail {

/// Records on the device, and an asynchronous copy of them on the host.
template <class Record>
class AsyncResults {
 public:
  AsyncResults(const Device& device, std::size_t count)
      : on_device_(device.make_buffer(count * sizeof(Record))), on_host_(device, count) {}
  AsyncResults(const AsyncResults&) = delete;
  AsyncResults& operator=(const AsyncResults&) = delete;

  [[nodiscard]] backend::Memory& memory() { return Access::memory(on_device_); }

  void enqueue_copy(Stream& stream) {
    on_host_.enqueue(stream, on_device_);
    is_fetched_ = false;
  }
  /// Waits for the copy. The result is valid until the next copy.
  [[nodiscard]] std::span<const Record> wait() {
    if (!is_fetched_) records_ = on_host_.wait();
    is_fetched_ = true;
    return records_;
  }

 private:
  Buffer on_device_;
  Readback<Record> on_host_;
  std::span<const Record> records_;
  bool is_fetched_ = false;
};

/// Throws Error(invalid_argument) unless the number of results is 1 to max_results.
inline void check_results(const char* stage, std::int64_t results) {
  constexpr std::int64_t max_results = 1024;
  if (results < 1 || results > max_results) {
    refuse(stage, "the results must be 1 to " + std::to_string(max_results));
  }
}

/// Throws Error(invalid_argument) unless `result` is an index below `results`.
inline void check_result(const char* stage, std::int64_t result, std::int64_t results) {
  if (result < 0 || result >= results) {
    refuse(stage,
           "result " + std::to_string(result) + " is not 0 to " + std::to_string(results - 1));
  }
}

}  // namespace warpalign::detail
