// A stream for uploads during the creation of plans.
#include "device/service_stream.hpp"

#include "device/errors.hpp"

namespace warpalign::cuda {

ServiceStream::~ServiceStream() {
  if (stream_ == nullptr) return;
  static_cast<void>(cudaSetDevice(ordinal_));
  static_cast<void>(cudaStreamDestroy(stream_));
}

void ServiceStream::upload(const void* values, std::size_t bytes, void* target,
                           const CallSite& site) {
  const std::scoped_lock lock(mutex_);
  if (stream_ == nullptr) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
          site);
  }
  check(cudaMemcpyAsync(target, values, bytes, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync",
        site);
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize (upload)", site);
}

}  // namespace warpalign::cuda
