// Stage: one step of many Gauss-Newton fits whose state stays on the device.
#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "device/readback.hpp"
#include "stages/results.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpalign {

namespace {

constexpr const char* fit_step_stage = "fit_step";
constexpr std::size_t max_fits = 4096;

FitStepSpec checked(const FitStepSpec& spec) {
  if (spec.fits < 1 || spec.fits > max_fits) {
    detail::refuse(fit_step_stage, "the number of fits must be 1 to 4096");
  }
  return spec;
}

std::size_t sum_count(bool projective) {
  return static_cast<std::size_t>(projective ? backend::homography_sum_count
                                             : backend::similarity_sum_count);
}

// Kernels do not check bounds.
void check_fit(const FitRecord& fit, std::size_t states) {
  if (fit.channels != 1 && fit.channels != 2)
    detail::refuse(fit_step_stage, "a fit has 1 or 2 channels");
  if (fit.groups < 1) detail::refuse(fit_step_stage, "a fit needs at least one work group");
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(fit.channels); ++channel) {
    if (fit.states[channel] < 0 || static_cast<std::size_t>(fit.states[channel]) >= states ||
        fit.partials[channel] < 0) {
      detail::refuse(fit_step_stage, "the state or the sums of a fit are out of bounds");
    }
  }
  for (const float number : fit.start) {
    if (!std::isfinite(number))
      detail::refuse(fit_step_stage, "the start contains NaN or infinity");
  }
}

// The end of the partial sums that a fit reads.
std::size_t end_of_partials(const FitRecord& fit, std::size_t sums) {
  std::size_t end = 0;
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(fit.channels); ++channel) {
    end = std::max(end, static_cast<std::size_t>(fit.partials[channel]) +
                            sums * static_cast<std::size_t>(fit.groups));
  }
  return end;
}

void check_has_sums(const FitRecord& fit, std::span<const backend::ResidentSums> sums) {
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(fit.channels); ++channel) {
    const auto state = static_cast<std::size_t>(fit.states[channel]);
    const bool has_sums = std::any_of(sums.begin(), sums.end(), [&](const auto& one) {
      return state >= one.first_state && state - one.first_state < one.count;
    });
    if (!has_sums) detail::refuse(fit_step_stage, "a fit has no sums");
  }
}

}  // namespace

struct FitStepPlan::Memory {
  Memory(const Device& device, std::size_t capacity)
      : fits(device.make_buffer(capacity * sizeof(FitRecord))),
        states(device.make_buffer(2 * capacity * sizeof(ResidentState))),
        readback(device, capacity) {}

  Buffer fits, states;
  detail::Readback<FitRecord> readback;
  std::size_t count = 0;     ///< number of fits
  std::size_t partials = 0;  ///< number of partial sums that they read
};

FitStepPlan::FitStepPlan(const Device& device, const FitStepSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      memory_(std::make_shared<Memory>(device, spec.fits)) {}

void FitStepPlan::check_fits(std::span<const FitRecord> fits) const {
  if (fits.size() > spec_.fits) {
    detail::refuse(fit_step_stage,
                   "this plan supports at most " + std::to_string(spec_.fits) + " fits");
  }
  for (const FitRecord& fit : fits) check_fit(fit, 2 * fits.size());
}

void FitStepPlan::begin(Stream& stream, std::span<const FitRecord> fits) const {
  detail::check_stream(fit_step_stage, device_, stream);
  check_fits(fits);
  std::size_t partials = 0;
  for (const FitRecord& fit : fits) {
    partials = std::max(partials, end_of_partials(fit, sum_count(spec_.projective)));
  }
  memory_->count = 0;  // until the upload succeeds
  if (fits.empty()) return;
  stream.upload(fits.data(), fits.size_bytes(), memory_->fits);
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(memory_->fits), detail::Access::memory(memory_->states)},
                   detail::Access::memory(std::as_const(memory_->states)), fits.size());
  memory_->count = fits.size();
  memory_->partials = partials;
}

bool FitStepPlan::runs(std::span<const backend::ResidentSums> sums) const {
  return kernel_->supports_fused_fits(sums);
}

void FitStepPlan::run(Stream& stream, std::span<const FitRecord> fits,
                      std::span<const backend::ResidentSums> sums, int turns) const {
  detail::check_stream(fit_step_stage, device_, stream);
  if (!runs(sums))
    detail::refuse(fit_step_stage, "the device does not support run() for these fits");
  if (turns < 0) detail::refuse(fit_step_stage, "the number of iterations must be at least 0");
  check_fits(fits);
  for (const FitRecord& fit : fits) check_has_sums(fit, sums);
  memory_->count = 0;
  if (fits.empty()) return;
  stream.upload(fits.data(), fits.size_bytes(), memory_->fits);
  kernel_->enqueue_fused_fits(detail::Access::queue(stream), detail::Access::memory(memory_->fits),
                              sums, fits.size(), turns);
  memory_->count = fits.size();
  memory_->partials = 0;
}

const Buffer& FitStepPlan::states() const { return memory_->states; }

void FitStepPlan::enqueue(Stream& stream, const detail::Results<float>& partials) const {
  detail::check_stream(fit_step_stage, device_, stream);
  if (partials.count() < memory_->partials) {
    detail::refuse(fit_step_stage, "there are too few partial sums for the fits");
  }
  if (memory_->count == 0) return;
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(memory_->fits), detail::Access::memory(memory_->states)},
                   partials.memory(), memory_->count);
}

void FitStepPlan::look(Stream& stream) const {
  detail::check_stream(fit_step_stage, device_, stream);
  if (memory_->count == 0) return;
  memory_->readback.enqueue(stream, memory_->fits, memory_->count);
}

std::span<const FitRecord> FitStepPlan::seen() const {
  if (memory_->count == 0) return {};
  const std::span<const FitRecord> seen = memory_->readback.wait();
  return seen.first(std::min(seen.size(), memory_->count));
}

}  // namespace warpalign
