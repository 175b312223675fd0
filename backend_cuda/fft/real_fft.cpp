// Stage: the Fourier transform of real images and volumes, by cuFFT.
//
// Images and volumes one pixel wide have a separate implementation: their half spectrum is the
// whole spectrum of a line or of a plane, which an in-place complex transform computes. cuFFT thus
// never gets a dimension of size 1.
#include "device/errors.hpp"
#include "device/memory.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"

#include <warpalign/backend/stages/fft/fft.hpp>
#include <warpalign/error.hpp>

#include <cufft.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::cuda {
namespace {

const char* name_of(cufftResult code) {
  switch (code) {
    case CUFFT_SUCCESS:
      return "CUFFT_SUCCESS";
    case CUFFT_INVALID_PLAN:
      return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
      return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE:
      return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE:
      return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR:
      return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED:
      return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
      return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
      return "CUFFT_INVALID_SIZE";
    case CUFFT_UNALIGNED_DATA:
      return "CUFFT_UNALIGNED_DATA";
    case CUFFT_INVALID_DEVICE:
      return "CUFFT_INVALID_DEVICE";
    case CUFFT_NO_WORKSPACE:
      return "CUFFT_NO_WORKSPACE";
    case CUFFT_NOT_IMPLEMENTED:
      return "CUFFT_NOT_IMPLEMENTED";
    case CUFFT_NOT_SUPPORTED:
      return "CUFFT_NOT_SUPPORTED";
    default:
      return "an unknown cufftResult";
  }
}

std::string advice_for_fft(cufftResult code) {
  if (code == CUFFT_ALLOC_FAILED) return advice_for(cudaErrorMemoryAllocation);
  if (code == CUFFT_INVALID_SIZE) return "use a smaller image or fewer images at once";
  if (code == CUFFT_SETUP_FAILED || code == CUFFT_INTERNAL_ERROR) {
    return "check that libcufft belongs to the CUDA toolkit that warpalign was built with, and "
           "that device memory is free";
  }
  return {};
}

void check_fft(cufftResult code, const char* call, const CallSite& site) {
  if (code == CUFFT_SUCCESS) return;
  // clears the runtime's error, which the exception below reports
  static_cast<void>(cudaGetLastError());
  ErrorContext context;
  context.stage = site.stage;
  context.backend = "cuda";
  context.device = site.context.name;
  context.call = call;
  context.code = name_of(code);
  context.advice = advice_for_fft(code);
  const auto kind =
      code == CUFFT_ALLOC_FAILED ? ErrorKind::out_of_memory : ErrorKind::device_failure;
  throw Error(kind, std::string(call) + " failed with code " + std::to_string(code),
              std::move(context));
}

// A cuFFT plan, which uses a work area of the stage.
class FftPlan {
 public:
  FftPlan(const CallSite& site, std::vector<long long> extents, cufftType type, long long batch)
      : site_(site) {
    site_.context.activate();
    check_fft(cufftCreate(&handle_), "cufftCreate", site_);
    try {
      make(extents, type, batch);
    } catch (...) {
      static_cast<void>(cufftDestroy(handle_));
      throw;
    }
  }
  FftPlan(const FftPlan&) = delete;
  FftPlan& operator=(const FftPlan&) = delete;
  ~FftPlan() {
    site_.context.activate_quietly();
    static_cast<void>(cufftDestroy(handle_));
  }

  [[nodiscard]] std::size_t work_bytes() const noexcept { return work_bytes_; }

  void use_work_area(const DeviceMemory& work) {
    check_fft(cufftSetWorkArea(handle_, work.as<void>()), "cufftSetWorkArea", site_);
  }

  /// The handle, with its stream set to that of the queue.
  cufftHandle on(const backend::Queue& queue) const {
    check_fft(cufftSetStream(handle_, stream_of(queue)), "cufftSetStream", site_);
    return handle_;
  }

 private:
  // The arrays are dense and the images of a batch are consecutive, which cuFFT assumes if no
  // embedding is given. `extents` are ordered from the outermost dimension.
  void make(std::vector<long long>& extents, cufftType type, long long batch) {
    check_fft(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation", site_);
    check_fft(cufftMakePlanMany64(handle_, static_cast<int>(extents.size()), extents.data(),
                                  nullptr, 1, 0, nullptr, 1, 0, type, batch, &work_bytes_),
              "cufftMakePlanMany64", site_);
  }

  CallSite site_;
  cufftHandle handle_ = 0;
  std::size_t work_bytes_ = 0;
};

std::vector<long long> extents_of(const RealFftSpec& spec) {
  const Shape& shape = spec.shape;
  if (spec.dimensions == 3) return {shape.depth, shape.height, shape.width};
  if (shape.height == 1) return {shape.width};
  return {shape.height, shape.width};
}

/// The extents for images and volumes one pixel wide.
std::vector<long long> column_extents_of(const RealFftSpec& spec) {
  if (spec.dimensions == 3) return {spec.shape.depth, spec.shape.height};
  return {spec.shape.height};
}

long long batch_of(const RealFftSpec& spec) { return spec.dimensions == 3 ? 1 : spec.shape.depth; }

class RealFftStage final : public backend::RealFft {
 public:
  RealFftStage(const Context& context, const RealFftSpec& spec)
      : site_{context, "fft"}, scratch_guard_(site_) {
    std::size_t bytes = 0;
    if (spec.has_forward()) {
      forward_.emplace(site_, extents_of(spec), CUFFT_R2C, batch_of(spec));
      bytes = forward_->work_bytes();
    }
    if (spec.has_inverse()) {
      inverse_.emplace(site_, extents_of(spec), CUFFT_C2R, batch_of(spec));
      bytes = std::max(bytes, inverse_->work_bytes());
    }
    // cuFFT may need no work area, but cudaMalloc() rejects a size of 0.
    work_.emplace(site_, std::max<std::size_t>(bytes, 1));
    if (forward_) forward_->use_work_area(*work_);
    if (inverse_) inverse_->use_work_area(*work_);
  }

  // An out-of-place real-to-complex transform leaves its input unchanged.
  void enqueue_forward(backend::Queue& queue, const backend::Memory& real,
                       backend::Memory& spectrum) override {
    site_.context.activate();
    const std::scoped_lock lock(mutex_);
    scratch_guard_.enter(queue);
    auto* input = const_cast<cufftReal*>(data<cufftReal>(real));
    check_fft(cufftExecR2C(forward_->on(queue), input, data<cufftComplex>(spectrum)),
              "cufftExecR2C", site_);
  }

  void enqueue_inverse(backend::Queue& queue, backend::Memory& spectrum,
                       backend::Memory& real) override {
    site_.context.activate();
    const std::scoped_lock lock(mutex_);
    scratch_guard_.enter(queue);
    check_fft(
        cufftExecC2R(inverse_->on(queue), data<cufftComplex>(spectrum), data<cufftReal>(real)),
        "cufftExecC2R", site_);
  }

 private:
  CallSite site_;
  std::optional<FftPlan> forward_;  // the directions of the spec
  std::optional<FftPlan> inverse_;
  std::optional<DeviceMemory> work_;
  ScratchGuard scratch_guard_;
  std::mutex mutex_;  // held while a plan's stream is set and the plan is executed
};

// Transforms images and volumes of width 1. A 1 x 1 image is its own transform.
class ColumnFftStage final : public backend::RealFft {
 public:
  ColumnFftStage(const Context& context, const RealFftSpec& spec)
      : site_{context, "fft"},
        pixels_(static_cast<std::size_t>(spec.shape.pixels())),
        scratch_guard_(site_) {
    if (spec.shape.height == 1) return;
    plan_ = std::make_unique<FftPlan>(site_, column_extents_of(spec), CUFFT_C2C, batch_of(spec));
    work_ = std::make_unique<DeviceMemory>(site_, std::max<std::size_t>(plan_->work_bytes(), 1));
    plan_->use_work_area(*work_);
  }

  void enqueue_forward(backend::Queue& queue, const backend::Memory& real,
                       backend::Memory& spectrum) override {
    site_.context.activate();
    const std::scoped_lock lock(mutex_);
    scratch_guard_.enter(queue);
    auto* complex = data<cufftComplex>(spectrum);
    check(cudaMemsetAsync(complex, 0, pixels_ * sizeof(cufftComplex), stream_of(queue)),
          "cudaMemsetAsync", site_);
    copy_every(queue, complex, sizeof(cufftComplex), data<cufftReal>(real), sizeof(cufftReal));
    transform(queue, complex, CUFFT_FORWARD);
  }

  void enqueue_inverse(backend::Queue& queue, backend::Memory& spectrum,
                       backend::Memory& real) override {
    site_.context.activate();
    const std::scoped_lock lock(mutex_);
    scratch_guard_.enter(queue);
    auto* complex = data<cufftComplex>(spectrum);
    transform(queue, complex, CUFFT_INVERSE);
    copy_every(queue, data<cufftReal>(real), sizeof(cufftReal), complex, sizeof(cufftComplex));
  }

 private:
  void transform(const backend::Queue& queue, cufftComplex* line, int direction) const {
    if (!plan_) return;
    check_fft(cufftExecC2C(plan_->on(queue), line, line, direction), "cufftExecC2C", site_);
  }

  // Copies one real number per `source_step` bytes to one per `target_step` bytes.
  void copy_every(const backend::Queue& queue, void* target, std::size_t target_step,
                  const void* source, std::size_t source_step) const {
    check(cudaMemcpy2DAsync(target, target_step, source, source_step, sizeof(cufftReal), pixels_,
                            cudaMemcpyDeviceToDevice, stream_of(queue)),
          "cudaMemcpy2DAsync", site_);
  }

  CallSite site_;
  std::size_t pixels_;
  std::unique_ptr<FftPlan> plan_;
  std::unique_ptr<DeviceMemory> work_;
  ScratchGuard scratch_guard_;
  std::mutex mutex_;
};

}  // namespace

template <>
std::unique_ptr<backend::RealFft> make(const Context& context, const RealFftSpec& spec) {
  if (spec.shape.width == 1) return std::make_unique<ColumnFftStage>(context, spec);
  return std::make_unique<RealFftStage>(context, spec);
}

}  // namespace warpalign::cuda
