// Makes, checks, caches and shares FFT plans.
#include "fft/fft_plans.hpp"

#include "fft/fft_check.hpp"

#include <algorithm>

namespace warpalign::opencl {

namespace {

// Plans that are kept although nobody uses them: successive pairs often have the same few shapes.
constexpr std::size_t max_kept = 8;

std::string what(const RealFftSpec& spec) {
  return to_string(spec.shape) + (spec.dimensions == 3 ? " in three dimensions" : "") +
         (spec.goes_back() ? "" : ", forward") + (spec.goes_forward() ? "" : ", inverse");
}

constexpr const char* verdict_right = "right";
constexpr const char* verdict_wrong = "wrong: ";

/// Whether n has no prime factor above 13, the largest radix that VkFFT has.
bool has_small_factors(std::int64_t n) {
  for (const std::int64_t factor : {2, 3, 5, 7, 11, 13}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

std::unique_ptr<FftProvider> make_preferred(Context& context) {
  const bool clfft = context.host().config().opencl_fft == "clfft";
  return clfft ? make_clfft(context) : make_vkfft(context);
}

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

FftPlans::FftPlans(Context& context) : context_(context), preferred_(make_preferred(context)) {
  context.info().fft = preferred_->name();
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
  if (auto plan = checked_plan(*preferred_, spec, reasons)) {
    return std::make_shared<SharedFft>(std::move(plan));
  }
  if (FftProvider* other = fallback(reasons)) {
    if (auto plan = checked_plan(*other, spec, reasons)) {
      return std::make_shared<SharedFft>(std::move(plan));
    }
  }
  throw error(ErrorKind::build_failed,
              "no FFT of " + what(spec) + " works on this device: " + reasons,
              context_.call_site("fft"),
              "set opencl.fft to the other library, or try a newer driver or another device");
}

/// Has the preferred library name what it compiles. clFFT compiles by itself: it is not asked.
/// VkFFT runs kernels while it plans sizes with larger prime factors (by Bluestein's algorithm),
/// which cannot be done before these are compiled.
std::shared_ptr<SharedFft> FftPlans::announce(const RealFftSpec& spec) {
  if (std::string(preferred_->name()) == "clfft") return nullptr;
  const Shape& shape = spec.shape;
  for (const std::int64_t extent : {shape.width, shape.height, shape.depth}) {
    if (!has_small_factors(extent)) return nullptr;
  }
  return std::make_shared<SharedFft>(preferred_->plan(spec));
}

/// A right plan, or nothing with the reason appended. What is no fault of the plan is thrown on.
std::unique_ptr<FftPlan> FftPlans::checked_plan(FftProvider& provider, const RealFftSpec& spec,
                                                std::string& reasons) {
  const std::string who = std::string(provider.name()) + " " + provider.version();
  const std::string key =
      "fft verdict\n" + context_.identity() + who + "\nshape " + what(spec) + "\n";
  const std::string verdict = context_.host().load_cached(key).value_or("");
  const auto blame = [&](const std::string& reason) {
    reasons += (reasons.empty() ? "" : "; ") + who + ": " + reason;
    return nullptr;
  };
  if (verdict.starts_with(verdict_wrong)) {
    return blame(verdict.substr(std::string(verdict_wrong).size()));
  }
  try {
    // The plan's programs are compiled at once where that helps, and one by one as it is made.
    if (&provider == preferred_.get()) {
      context_.programs().announce([&] { static_cast<void>(announce(spec)); });
    }
    auto plan = provider.plan(spec);
    if (verdict == verdict_right) return plan;
    const std::string fault = fault_of_plan(context_, *plan, spec);
    context_.host().store_cached(key, fault.empty() ? verdict_right : verdict_wrong + fault);
    if (fault.empty()) return plan;
    return blame(fault);
  } catch (const Error& failure) {
    const bool refused = failure.kind() == ErrorKind::invalid_argument;
    if (failure.kind() == ErrorKind::out_of_memory) throw;
    if (refused && &provider == preferred_.get()) throw;
    return blame(failure.message());
  }
}

FftProvider* FftPlans::fallback(std::string& reasons) {
  if (std::string(preferred_->name()) == "clfft") return nullptr;
  if (fallback_) return fallback_.get();
  try {
    fallback_ = make_clfft(context_);
  } catch (const Error& failure) {
    reasons += "; clfft: " + failure.message();
  }
  return fallback_.get();
}

}  // namespace warpalign::opencl
