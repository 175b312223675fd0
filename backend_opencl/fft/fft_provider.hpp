// What an FFT library must offer this backend. VkFFT and clFFT do; a third is one more file.
#pragma once

#include "device/context.hpp"

#include <warpalign/stages/fft.hpp>

#include <memory>
#include <string>

namespace warpalign::opencl {

/// The transforms of real images, or a volume, of one shape; contract in warpalign/stages/fft.hpp.
/// Its scratch memory serves one launch at a time: FftPlans keeps the order.
class FftPlan {
 public:
  FftPlan() = default;
  FftPlan(const FftPlan&) = delete;
  FftPlan& operator=(const FftPlan&) = delete;
  virtual ~FftPlan() = default;
  virtual void forward(cl_command_queue queue, cl_mem real, cl_mem spectrum) = 0;
  virtual void inverse(cl_command_queue queue, cl_mem spectrum, cl_mem real) = 0;
};

class FftProvider {
 public:
  FftProvider() = default;
  FftProvider(const FftProvider&) = delete;
  FftProvider& operator=(const FftProvider&) = delete;
  virtual ~FftProvider() = default;
  /// "vkfft" or "clfft", as the configuration names them.
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  [[nodiscard]] virtual std::string version() const = 0;
  /// Throws Error(invalid_argument) for sizes the library cannot do, Error(build_failed) when it
  /// fails otherwise.
  [[nodiscard]] virtual std::unique_ptr<FftPlan> plan(const RealFftSpec& spec) = 0;
};

/// Never throws for want of a library: VkFFT is compiled in.
[[nodiscard]] std::unique_ptr<FftProvider> make_vkfft(Context& context);

/// Throws Error(configuration) saying why when clFFT's library cannot be loaded.
[[nodiscard]] std::unique_ptr<FftProvider> make_clfft(Context& context);

}  // namespace warpalign::opencl
