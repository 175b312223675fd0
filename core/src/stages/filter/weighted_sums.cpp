// Stage: weighted sums of neighbouring samples along one axis.
#include <warpalign/backend/stages/filter/weighted_sums.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/uploaded.hpp"

#include <algorithm>

namespace warpalign {

namespace {

constexpr const char* weighted_sums_stage = "weighted_sums";
constexpr std::int64_t max_sums_side = std::int64_t{1} << 30;
constexpr std::int64_t max_sums_numbers = std::int64_t{1} << 40;

std::int64_t numbers_of(const WeightedSumsSpec& spec, std::int64_t n) {
  return spec.outer * n * spec.inner;
}

WeightedSumsSpec checked(const Device& device, const WeightedSumsSpec& spec, int taps,
                         const std::vector<std::int32_t>& first_samples,
                         const std::vector<double>& weights, const std::vector<double>& added) {
  for (const std::int64_t n : {spec.outer, spec.n_input, spec.n_output, spec.inner}) {
    if (n < 1 || n > max_sums_side) {
      detail::refuse(weighted_sums_stage, "each extent must be 1 to 2^30");
    }
  }
  const std::int64_t most = max_sums_numbers / std::max(spec.n_input, spec.n_output);
  if (spec.outer > most / spec.inner) {
    detail::refuse(weighted_sums_stage, "the arrays have more than 2^40 numbers");
  }
  const auto n = static_cast<std::size_t>(spec.n_output);
  if (taps < 1 || taps > spec.n_input || first_samples.size() != n || added.size() != n ||
      weights.size() != n * static_cast<std::size_t>(taps)) {
    detail::refuse(weighted_sums_stage, "the tables do not have the sizes of the spec");
  }
  const auto is_outside = [&](std::int32_t first) { return first < 0 || first >= spec.n_input; };
  if (std::ranges::any_of(first_samples, is_outside)) {
    detail::refuse(weighted_sums_stage, "a sum begins outside the input");
  }
  if (spec.in_double && !device.info().double_precision) {
    detail::refuse(weighted_sums_stage,
                   "the device " + device.info().id + " does not support double precision");
  }
  return spec;
}

std::size_t bytes_of_number(const WeightedSumsSpec& spec) {
  return spec.in_double ? sizeof(double) : sizeof(float);
}

Buffer uploaded_numbers(const Device& device, const WeightedSumsSpec& spec,
                        const std::vector<double>& numbers) {
  if (spec.in_double) return detail::uploaded(device, numbers);
  std::vector<float> rounded(numbers.size());
  std::ranges::transform(numbers, rounded.begin(),
                         [](double number) { return static_cast<float>(number); });
  return detail::uploaded(device, rounded);
}

}  // namespace

WeightedSumsPlan::WeightedSumsPlan(const Device& device, const WeightedSumsSpec& spec, int taps,
                                   const std::vector<std::int32_t>& first,
                                   const std::vector<double>& weights,
                                   const std::vector<double>& added)
    : device_(device),
      spec_(checked(device, spec, taps, first, weights, added)),
      kernel_(detail::Access::driver(device).make(backend::WeightedSums::Setup{spec, taps})),
      first_(detail::uploaded(device, first)),
      weights_(uploaded_numbers(device, spec, weights)),
      added_(uploaded_numbers(device, spec, added)) {}

void WeightedSumsPlan::execute(Stream& stream, const Buffer& input, Buffer& output) const {
  detail::check_stream(weighted_sums_stage, device_, stream);
  detail::check_buffer(
      weighted_sums_stage, "the input", device_, input,
      static_cast<std::size_t>(numbers_of(spec_, spec_.n_input)) * bytes_of_number(spec_));
  detail::check_buffer(
      weighted_sums_stage, "the output", device_, output,
      static_cast<std::size_t>(numbers_of(spec_, spec_.n_output)) * bytes_of_number(spec_));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(first_), detail::Access::memory(weights_),
                   detail::Access::memory(added_), detail::Access::memory(output));
}

}  // namespace warpalign
