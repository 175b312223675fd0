// A stream for uploads during the creation of plans.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

namespace warpalign::cuda {

struct CallSite;

/// Creating a stream takes longer than most such uploads, so one stream serves them all, one at a
/// time.
class ServiceStream {
 public:
  explicit ServiceStream(int ordinal) : ordinal_(ordinal) {}
  ServiceStream(const ServiceStream&) = delete;
  ServiceStream& operator=(const ServiceStream&) = delete;
  ~ServiceStream();

  /// Returns after the upload is complete. The device must be the thread's current one.
  void upload(const void* values, std::size_t bytes, void* target, const CallSite& site);

 private:
  int ordinal_;
  std::mutex mutex_;
  cudaStream_t stream_ = nullptr;  ///< created by the first upload
};

}  // namespace warpalign::cuda
