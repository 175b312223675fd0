// Creates, checks, caches and shares FFT plans.
#include "fft/fft_plans.hpp"

#include "device/program_cache.hpp"
#include "fft/fft_check.hpp"

#include <algorithm>

namespace warpalign::opencl {

namespace {

// The number of unused plans to keep: successive pairs often have the same few shapes.
constexpr std::size_t max_kept = 8;

std::string what(const RealFftSpec& spec) {
  return to_string(spec.shape) + (spec.dimensions == 3 ? " in three dimensions" : "") +
         (spec.has_inverse() ? "" : ", forward") + (spec.has_forward() ? "" : ", inverse");
}

constexpr const char* verdict_right = "right";
constexpr const char* verdict_wrong = "wrong: ";

}  // namespace

void SharedFft::forward(cl_command_queue queue, cl_mem real, cl_mem spectrum) {
  const std::lock_guard lock(mutex_);
  scratch_guard_.enter(queue, "fft");
  plan_->forward(queue, real, spectrum);
  scratch_guard_.leave("fft");
}

void SharedFft::inverse(cl_command_queue queue, cl_mem spectrum, cl_mem real) {
  const std::lock_guard lock(mutex_);
  scratch_guard_.enter(queue, "fft");
  plan_->inverse(queue, spectrum, real);
  scratch_guard_.leave("fft");
}

std::vector<FftPlans::Library> FftPlans::libraries_of(const Context& context) {
  const std::string& wanted = context.host().config().opencl_fft;
  std::vector<Library> libraries;
  if (wanted == "auto" && context.has_vectors()) libraries.push_back({&make_cpu_fft, nullptr});
  if (wanted != "clfft") libraries.push_back({&make_vkfft, nullptr});
  libraries.push_back({&make_clfft, nullptr});
  return libraries;
}

FftPlans::FftPlans(Context& context) : context_(context), libraries_(libraries_of(context)) {
  context.info().fft = provider_of(libraries_.front()).name();
}

FftProvider& FftPlans::provider_of(Library& library) {
  const std::lock_guard lock(providers_mutex_);
  if (!library.provider) library.provider = library.load(context_);
  return *library.provider;
}

std::shared_ptr<SharedFft> FftPlans::get(const RealFftSpec& spec) {
  if (context_.programs().announcing()) return announce(spec);
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(recent_.begin(), recent_.end(),
                                  [&](const auto& entry) { return entry.first == spec; });
  if (found != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, found);
  } else {
    recent_.emplace_front(spec, make(spec));
    if (recent_.size() > max_kept) recent_.pop_back();
  }
  return recent_.front().second;
}

std::shared_ptr<SharedFft> FftPlans::make(const RealFftSpec& spec) {
  std::string reasons;
  for (Library& library : libraries_) {
    try {
      FftProvider& provider = provider_of(library);
      if (!provider.takes(spec)) continue;
      if (auto plan = checked_plan(provider, spec, reasons)) {
        return std::make_shared<SharedFft>(std::move(plan));
      }
    } catch (const Error& failure) {
      if (failure.kind() != ErrorKind::configuration) throw;
      reasons += "; clfft: " + failure.message();
    }
  }
  throw error(ErrorKind::build_failed,
              "no FFT of " + what(spec) + " works on this device: " + reasons,
              context_.call_site("fft"),
              "set opencl.fft to the other library, or try a newer driver or another device");
}

/// Lets the preferred library register the programs that it will compile, if it can do so.
std::shared_ptr<SharedFft> FftPlans::announce(const RealFftSpec& spec) {
  for (Library& library : libraries_) {
    FftProvider& provider = provider_of(library);
    if (!provider.takes(spec)) continue;
    if (!provider.registers_programs(spec)) return nullptr;
    return std::make_shared<SharedFft>(provider.plan(spec));
  }
  return nullptr;
}

/// Returns a plan that passes the check, or nothing, with the reason appended to `reasons`.
/// Rethrows errors that are not the fault of the plan.
std::unique_ptr<FftPlan> FftPlans::checked_plan(FftProvider& provider, const RealFftSpec& spec,
                                                std::string& reasons) {
  const std::string library = std::string(provider.name()) + " " + provider.version();
  std::string key =
      "fft verdict\n" + context_.identity() + library + "\nshape " + what(spec) + "\n";
  key += provider.own_kernels();
  const std::string verdict = context_.host().load_cached(key).value_or("");
  const auto reject = [&](const std::string& reason) {
    reasons += (reasons.empty() ? "" : "; ") + library + ": " + reason;
    return nullptr;
  };
  if (verdict.starts_with(verdict_wrong)) {
    return reject(verdict.substr(std::string(verdict_wrong).size()));
  }
  try {
    // Compiles all programs of the plan at once, if that helps, instead of one by one.
    if (provider.registers_programs(spec)) {
      context_.programs().announce([&] { static_cast<void>(provider.plan(spec)); });
    }
    auto plan = provider.plan(spec);
    if (verdict == verdict_right) return plan;
    const std::string fault = check_plan(context_, *plan, spec);
    context_.host().store_cached(key, fault.empty() ? verdict_right : verdict_wrong + fault);
    if (fault.empty()) return plan;
    return reject(fault);
  } catch (const Error& failure) {
    const bool refused = failure.kind() == ErrorKind::invalid_argument;
    if (failure.kind() == ErrorKind::out_of_memory || context_.lost() != nullptr) throw;
    if (refused && &provider == libraries_.front().provider.get()) throw;
    return reject(failure.message());
  }
}

}  // namespace warpalign::opencl
