// The interface that this backend needs from an FFT library. VkFFT, clFFT and our kernels for CPUs
// implement it; another library would be one more file.
#pragma once

#include "device/context.hpp"

#include <warpalign/stages/fft.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace warpalign::opencl {

/// The transforms of real images, or of a volume, of one shape; warpalign/stages/fft.hpp has the
/// contract. The scratch memory serves one launch at a time: SharedFft (fft_plans.hpp) serialises
/// launches.
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
  /// "vkfft" or "clfft", as the configuration names them, or "simd" for our kernels for CPUs.
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  [[nodiscard]] virtual std::string version() const = 0;
  /// The source of our own kernels that its plans run besides the library's. The cached result of a
  /// check holds while neither changes.
  [[nodiscard]] virtual std::string_view own_kernels() const { return {}; }
  /// Whether this provider may serve such a plan.
  [[nodiscard]] virtual bool takes(const RealFftSpec& /*spec*/) const { return true; }
  /// Whether plan() within ProgramCache::announce() registers the programs to compile and runs
  /// nothing.
  [[nodiscard]] virtual bool registers_programs(const RealFftSpec& spec) const = 0;
  /// Throws Error(invalid_argument) for sizes that the library cannot transform, and
  /// Error(build_failed) if it fails otherwise.
  [[nodiscard]] virtual std::unique_ptr<FftPlan> plan(const RealFftSpec& spec) = 0;
};

/// Our kernels for CPUs, which support sizes without prime factors above 13.
[[nodiscard]] std::unique_ptr<FftProvider> make_cpu_fft(Context& context);

/// VkFFT, which is compiled in and therefore always available.
[[nodiscard]] std::unique_ptr<FftProvider> make_vkfft(Context& context);

/// clFFT. Throws Error(configuration) with the reason if its library cannot be loaded.
[[nodiscard]] std::unique_ptr<FftProvider> make_clfft(Context& context);

}  // namespace warpalign::opencl
