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

WeightedSumsSpec checked(const WeightedSumsSpec& spec, const backend::AxisWeights& weights,
                         const std::vector<float>& added) {
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
  if (weights.taps < 1 || weights.taps > spec.n_input || weights.first.size() != n ||
      added.size() != n || weights.weights.size() != n * static_cast<std::size_t>(weights.taps)) {
    detail::refuse(weighted_sums_stage, "the tables do not have the sizes of the spec");
  }
  const auto is_outside = [&](std::int32_t first) { return first < 0 || first >= spec.n_input; };
  if (std::ranges::any_of(weights.first, is_outside)) {
    detail::refuse(weighted_sums_stage, "a sum begins outside the input");
  }
  return spec;
}

}  // namespace

WeightedSumsPlan::WeightedSumsPlan(const Device& device, const WeightedSumsSpec& spec,
                                   const backend::AxisWeights& weights,
                                   const std::vector<float>& added)
    : device_(device),
      spec_(checked(spec, weights, added)),
      kernel_(
          detail::Access::driver(device).make(backend::WeightedSums::Setup{spec, weights.taps})),
      first_(detail::uploaded(device, weights.first)),
      weights_(detail::uploaded(device, weights.weights)),
      added_(detail::uploaded(device, added)) {}

void WeightedSumsPlan::execute(Stream& stream, const Buffer& input, Buffer& output) const {
  detail::check_stream(weighted_sums_stage, device_, stream);
  detail::check_buffer(weighted_sums_stage, "the input", device_, input,
                       static_cast<std::size_t>(numbers_of(spec_, spec_.n_input)) * sizeof(float));
  detail::check_buffer(weighted_sums_stage, "the output", device_, output,
                       static_cast<std::size_t>(numbers_of(spec_, spec_.n_output)) * sizeof(float));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(first_), detail::Access::memory(weights_),
                   detail::Access::memory(added_), detail::Access::memory(output));
}

}  // namespace warpalign
