// Records that kernels write and the host reads.
#pragma once

#include "device/access.hpp"

#include <warpalign/device.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Records on the device and memory for them on the host. A plan keeps both, so that fetching the
/// records allocates nothing.
template <class Record>
class Results {
 public:
  Results(const Device& device, std::size_t count)
      : count_(count), on_device_(device.make_buffer(count * sizeof(Record))) {
    if (count * sizeof(Record) > many_bytes) {
      pinned_.emplace(device.make_host_buffer(count * sizeof(Record)));
      on_host_ = static_cast<Record*>(pinned_->data());
    } else {
      few_.resize(count);
      on_host_ = few_.data();
    }
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] backend::Memory& memory() { return Access::memory(on_device_); }
  [[nodiscard]] const backend::Memory& memory() const { return Access::memory(on_device_); }

  /// Waits for the first `count` records. The result is valid until the next call.
  [[nodiscard]] std::span<const Record> fetch(Stream& stream, std::size_t count) {
    stream.download(on_device_, on_host_, count * sizeof(Record));
    return {on_host_, count};
  }
  [[nodiscard]] std::span<const Record> fetch(Stream& stream) { return fetch(stream, count_); }

  /// Sets all records to 0, and waits until this is done.
  void clear(Stream& stream) {
    std::fill_n(on_host_, count_, Record{});
    stream.upload(on_host_, count_ * sizeof(Record), on_device_);
    stream.finish();
  }

 private:
  // Smaller downloads use pinned memory of the stream.
  static constexpr std::size_t many_bytes = std::size_t{64} << 10;

  std::size_t count_;
  Buffer on_device_;
  std::vector<Record> few_;
  std::optional<HostBuffer> pinned_;
  Record* on_host_ = nullptr;
};

/// Ensures that `results` has room for at least `count` records.
template <class Record>
void make_room(std::unique_ptr<Results<Record>>& results, const Device& device, std::size_t count) {
  if (results && results->count() >= count) return;
  results.reset();  // frees its memory before the new one allocates
  results = std::make_unique<Results<Record>>(device, count);
}

}  // namespace warpalign::detail
