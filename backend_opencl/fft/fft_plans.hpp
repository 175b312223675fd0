// The FFT plans of a device: chooses the library, checks each plan, and caches plans.
#pragma once

#include "device/scratch_guard.hpp"
#include "fft/fft_provider.hpp"

#include <warpalign/stages/fft.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::opencl {

/// A plan that several RealFftPlan objects of one shape share. It has one temporary buffer, so its
/// launches are serialised: a mutex orders threads, an event orders queues.
class SharedFft {
 public:
  explicit SharedFft(std::unique_ptr<FftPlan> plan) : plan_(std::move(plan)) {}
  void forward(cl_command_queue queue, cl_mem real, cl_mem spectrum);
  void inverse(cl_command_queue queue, cl_mem spectrum, cl_mem real);

 private:
  std::mutex mutex_;
  ScratchGuard scratch_guard_;
  std::unique_ptr<FftPlan> plan_;
};

class FftPlans {
 public:
  /// Chooses the library that the configuration names, and writes its name to the device's info.
  explicit FftPlans(Context& context);

  /// Returns a plan of the first library whose plan passes the check on this device and driver, now
  /// or in an earlier run. Throws Error(build_failed) with all reasons if no library's plan does.
  [[nodiscard]] std::shared_ptr<SharedFft> get(const RealFftSpec& spec);

 private:
  std::shared_ptr<SharedFft> announce(const RealFftSpec& spec);
  std::shared_ptr<SharedFft> make(const RealFftSpec& spec);
  std::unique_ptr<FftPlan> checked_plan(FftProvider& provider, const RealFftSpec& spec,
                                        std::string& reasons);

  /// A library, which is loaded on first use.
  struct Library {
    std::unique_ptr<FftProvider> (*load)(Context& context);
    std::unique_ptr<FftProvider> provider;
  };
  static std::vector<Library> libraries_of(const Context& context);
  FftProvider& provider_of(Library& library);

  Context& context_;
  std::vector<Library> libraries_;  // the best first
  std::mutex providers_mutex_;      // for loading libraries on first use
  std::mutex mutex_;
  std::list<std::pair<RealFftSpec, std::shared_ptr<SharedFft>>> recent_;  // last used first
};

}  // namespace warpalign::opencl
