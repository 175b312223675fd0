// Stage: sums that say how much of the power of two volumes' spectra is at the same frequencies.
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>

#include <warpalign/stages/fft.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/group_sums.hpp"
#include "stages/results.hpp"

#include <span>

namespace warpalign {

namespace {

constexpr const char* stage = "spectrum_sums";

SpectrumSumsSpec checked(const SpectrumSumsSpec& spec) {
  detail::check_shape(stage, "the volume", spec.volume, detail::max_side);
  return spec;
}

}  // namespace

SpectrumSumsPlan::SpectrumSumsPlan(const Device& device, const SpectrumSumsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      partials_(std::make_shared<detail::Results<float>>(
          device, kernel_->groups() * backend::spectrum_sum_count)) {}

SpectrumSums SpectrumSumsPlan::execute(Stream& stream, const Image& a, const Image& b) const {
  detail::check_stream(stage, device_, stream);
  for (const Image* spectrum : {&a, &b}) {
    detail::check_image(stage, "a spectrum", device_, *spectrum, PixelType::c32,
                        RealFftPlan::half_spectrum(spec_.volume));
  }
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(a),
                   detail::Access::memory(b), partials_->memory());
  const std::span<const float> partials = partials_->fetch(stream);
  const std::size_t groups = kernel_->groups();
  return {detail::added_up(partials, groups, 0), detail::added_up(partials, groups, 1),
          detail::added_up(partials, groups, 2)};
}

}  // namespace warpalign
