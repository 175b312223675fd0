// Small asynchronous uploads.
#include "device/small_uploads.hpp"

#include "device/errors.hpp"
#include "device/queue.hpp"

#include <cuda_runtime_api.h>

#include <cstring>
#include <utility>

namespace warpalign::cuda {

namespace {

constexpr std::size_t half_bytes = 8 * SmallUploads::largest;
constexpr std::size_t alignment = 16;  // for kernels that read vectors

}  // namespace

SmallUploads::SmallUploads(const Context& context, std::shared_ptr<StreamHandle> stream)
    : context_(context),
      stream_(std::move(stream)),
      memory_(CallSite{context, "upload"}, 2 * half_bytes) {
  for (Half& half : halves_) {
    half.copied = std::make_unique<Event>(context_, cudaEventDisableTiming);
  }
}

SmallUploads::~SmallUploads() {
  context_.activate_quietly();
  static_cast<void>(stream_->synchronize());
}

void SmallUploads::begin_other_half() {
  const CallSite site{context_, "upload"};
  check(cudaEventRecord(halves_[current_].copied->get(), stream_->get()), "cudaEventRecord", site);
  current_ = 1 - current_;
  // An event that was never recorded counts as complete.
  check(cudaEventSynchronize(halves_[current_].copied->get()), "cudaEventSynchronize", site);
  halves_[current_].used = 0;
}

void SmallUploads::enqueue(const void* source, std::size_t bytes, void* target) {
  if (halves_[current_].used + bytes > half_bytes) begin_other_half();
  Half& half = halves_[current_];
  char* staged = static_cast<char*>(memory_.data()) + current_ * half_bytes + half.used;
  std::memcpy(staged, source, bytes);
  half.used += (bytes + alignment - 1) / alignment * alignment;
  check(cudaMemcpyAsync(target, staged, bytes, cudaMemcpyHostToDevice, stream_->get()),
        "cudaMemcpyAsync", CallSite{context_, "upload"});
}

}  // namespace warpalign::cuda
