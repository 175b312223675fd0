// Stage: sums that tell how far the power of two spectra lies at the same frequencies.
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>

#include <warpalign/stages/fft.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/async_results.hpp"
#include "stages/group_sums.hpp"

#include <span>

namespace warpalign {

namespace {

constexpr const char* spectrum_sums_stage = "spectrum_sums";

// The stack of the volumes of an execution.
Shape stacked(const SpectrumSumsSpec& spec) {
  return {spec.volume.width, spec.volume.height, spec.volume.depth * spec.at_once};
}

SpectrumSumsSpec checked(const SpectrumSumsSpec& spec) {
  detail::check_shape(spectrum_sums_stage, "the volume", spec.volume, detail::max_side);
  detail::check_results(spectrum_sums_stage, spec.results);
  if (spec.at_once < 1 || spec.at_once > spec.results) {
    detail::refuse(spectrum_sums_stage,
                   "at_once must be at least 1, and at most the number of results");
  }
  detail::check_shape(spectrum_sums_stage, "the volumes of an execution", stacked(spec),
                      detail::max_side);
  return spec;
}

}  // namespace

SpectrumSumsPlan::SpectrumSumsPlan(const Device& device, const SpectrumSumsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      partials_(std::make_shared<detail::AsyncResults<float>>(
          device, static_cast<std::size_t>(spec.results) * backend::spectrum_sum_count *
                      kernel_->groups())) {}

SpectrumSums SpectrumSumsPlan::execute(Stream& stream, const Image& a, const Image& b) const {
  enqueue(stream, a, b, 0);
  enqueue_copy(stream);
  return wait(0);
}

void SpectrumSumsPlan::enqueue(Stream& stream, const Image& a, const Image& b,
                               std::int64_t result) const {
  detail::check_stream(spectrum_sums_stage, device_, stream);
  for (const Image* spectrum : {&a, &b}) {
    detail::check_image(spectrum_sums_stage, "a spectrum", device_, *spectrum, PixelType::c32,
                        RealFftPlan::half_spectrum(stacked(spec_)));
  }
  detail::check_result(spectrum_sums_stage, result, spec_.results);
  detail::check_result(spectrum_sums_stage, result + spec_.at_once - 1, spec_.results);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(a),
                   detail::Access::memory(b), result, partials_->memory());
}

void SpectrumSumsPlan::enqueue_copy(Stream& stream) const {
  detail::check_stream(spectrum_sums_stage, device_, stream);
  partials_->enqueue_copy(stream);
}

SpectrumSums SpectrumSumsPlan::wait(std::int64_t result) const {
  detail::check_result(spectrum_sums_stage, result, spec_.results);
  const std::size_t groups = kernel_->groups();
  const std::size_t numbers = groups * backend::spectrum_sum_count;
  const std::span<const float> partials =
      partials_->wait().subspan(static_cast<std::size_t>(result) * numbers, numbers);
  const auto total = [&](std::size_t sum) {
    return detail::total_of_groups(partials, groups, sum);
  };
  return {total(0), total(1), total(2)};
}

}  // namespace warpalign
