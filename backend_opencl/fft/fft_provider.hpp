// What this backend needs of an FFT library. VkFFT, clFFT and the kernels for CPUs provide it;
// another library would be one more file.
#pragma once

#include "device/context.hpp"

#include <warpalign/stages/fft.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace warpalign::opencl {

/// The transforms of real images, or of a volume, of one shape; warpalign/stages/fft.hpp has the
/// contract. Its scratch memory serves one launch at a time: SharedFft (fft_plans.hpp) serialises
/// them.
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
  /// "vkfft" or "clfft", as the configuration names them, or "simd" for the kernels for CPUs.
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  [[nodiscard]] virtual std::string version() const = 0;
  /// The source of what its plans run beside the library's own kernels: a verdict on a plan holds
  /// as long as neither changes.
  [[nodiscard]] virtual std::string_view own_kernels() const { return {}; }
  /// Whether this is to be asked for such a plan at all.
  [[nodiscard]] virtual bool takes(const RealFftSpec& /*spec*/) const { return true; }
  /// Whether plan() within ProgramCache::announce names what is to be compiled, and runs nothing.
  [[nodiscard]] virtual bool names_programs(const RealFftSpec& spec) const = 0;
  /// Throws Error(invalid_argument) for sizes that the library cannot transform, and
  /// Error(build_failed) if it fails otherwise.
  [[nodiscard]] virtual std::unique_ptr<FftPlan> plan(const RealFftSpec& spec) = 0;
};

/// The kernels for CPUs, which take sizes without prime factors above 13.
[[nodiscard]] std::unique_ptr<FftProvider> make_cpu_fft(Context& context);

/// Cannot fail for lack of a library: VkFFT is compiled in.
[[nodiscard]] std::unique_ptr<FftProvider> make_vkfft(Context& context);

/// Throws Error(configuration) with the reason if clFFT's library cannot be loaded.
[[nodiscard]] std::unique_ptr<FftProvider> make_clfft(Context& context);

}  // namespace warpalign::opencl
