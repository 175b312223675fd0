// Stage: the sums for one Gauss-Newton step of a similarity transform or a homography.
#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/group_sums.hpp"
#include "stages/refinement/illumination_limits.hpp"
#include "stages/refinement/similarity_images.hpp"
#include "stages/results.hpp"

#include <cmath>
#include <span>
#include <string>

namespace warpalign {

namespace {

constexpr const char* similarity_sums_stage = "similarity_sums";
constexpr std::size_t max_batch = 64;

using Sums = std::array<double, backend::homography_sum_count>;

detail::ComparedPair pair_of(const SimilaritySumsSpec& spec) {
  return {similarity_sums_stage, spec.reference, spec.moving,    spec.reference_margin,
          spec.moving_margin,    spec.masked,    spec.projective};
}

std::size_t sum_count(const SimilaritySumsSpec& spec) {
  return static_cast<std::size_t>(backend::sum_count(spec));
}

SimilaritySumsSpec checked(const SimilaritySumsSpec& spec) {
  detail::check_pair(pair_of(spec));
  if (spec.illumination_cell != 0 &&
      (spec.illumination_cell < 2 || spec.illumination_cell > max_illumination_cell)) {
    detail::refuse(similarity_sums_stage,
                   "the side of the illumination model's cells must be 2 to 64 pixels");
  }
  if (spec.batch < 1 || spec.batch > max_batch) {
    detail::refuse(similarity_sums_stage, "the batch must be 1 to 64 states");
  }
  if (spec.resident && spec.illumination_cell != 0) {
    detail::refuse(similarity_sums_stage,
                   "states on the device do not support an illumination model");
  }
  return spec;
}

void check_room(std::size_t numbers, const detail::Results<float>& partials) {
  if (numbers > partials.count()) {
    detail::refuse(similarity_sums_stage, "the buffer of partial sums is too small");
  }
}

void check_state(const SimilarityState& state) {
  for (const double number :
       {state.gain, state.offset, state.scale, state.centre.x, state.centre.y, state.unit}) {
    if (!std::isfinite(number))
      detail::refuse(similarity_sums_stage, "the state contains NaN or infinity");
  }
  if (state.scale < 0)
    detail::refuse(similarity_sums_stage, "the scale of the weights must be 0 or more");
  if (!(state.unit > 0)) detail::refuse(similarity_sums_stage, "the unit must be above 0");
}

Sums sums_of(std::span<const float> partials, std::size_t count, std::size_t groups) {
  Sums sums{};
  for (std::size_t i = 0; i < count; ++i) sums[i] = detail::total_of_groups(partials, groups, i);
  return sums;
}

SimilaritySumsResult named(const Sums& sums, std::size_t parameters) {
  SimilaritySumsResult result;
  result.parameters = parameters;
  std::size_t next = 0;
  for (std::size_t row = 0; row < parameters; ++row) {
    for (std::size_t column = row; column < parameters; ++column) {
      result.hessian[row * parameters + column] = sums[next];
      result.hessian[column * parameters + row] = sums[next];
      ++next;
    }
  }
  for (std::size_t i = 0; i < parameters; ++i) result.gradient[i] = sums[next++];
  for (double* value :
       {&result.weight, &result.pixels, &result.absolute, &result.reference, &result.moving,
        &result.reference_square, &result.moving_square, &result.product}) {
    *value = sums[next++];
  }
  return result;
}

}  // namespace

SimilaritySumsPlan::SimilaritySumsPlan(const Device& device, const SimilaritySumsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      partials_(spec.resident ? nullptr
                              : std::make_shared<detail::Results<float>>(
                                    device, spec.batch * kernel_->groups() * sum_count(spec))) {}

SimilaritySumsResult SimilaritySumsPlan::execute(Stream& stream, const SimilarityImages& images,
                                                 const SimilarityState& state) const {
  SimilaritySumsResult result;
  execute(stream, images, {&state, 1}, {&result, 1});
  return result;
}

void SimilaritySumsPlan::execute(Stream& stream, const SimilarityImages& images,
                                 std::span<const SimilarityState> states,
                                 std::span<SimilaritySumsResult> results) const {
  if (states.size() != results.size()) {
    detail::refuse(similarity_sums_stage, "the numbers of states and results must be equal");
  }
  check_residency(false);
  enqueue(stream, images, states, *partials_, 0);
  if (states.empty()) return;
  add_up(partials_->fetch(stream, states.size() * partial_count()), results);
}

std::size_t SimilaritySumsPlan::partial_count() const {
  return kernel_->groups() * sum_count(spec_);
}

std::size_t SimilaritySumsPlan::groups() const { return kernel_->groups(); }

void SimilaritySumsPlan::check_residency(bool resident) const {
  if (spec_.resident == resident) return;
  detail::refuse(similarity_sums_stage, resident ? "this plan requires states on the host"
                                                 : "this plan requires states on the device");
}

void SimilaritySumsPlan::check_states(const SimilarityImages& images, std::size_t states) const {
  detail::check_images(pair_of(spec_), device_, images);
  if ((spec_.illumination_cell != 0) != (images.illumination != nullptr)) {
    detail::refuse(similarity_sums_stage, spec_.illumination_cell != 0
                                              ? "the illumination model is missing"
                                              : "this plan was made without an illumination model");
  }
  if (images.illumination != nullptr) {
    detail::check_image(similarity_sums_stage, "the illumination model", device_,
                        *images.illumination, PixelType::c32,
                        IlluminationPlan::field_shape(spec_.reference, spec_.illumination_cell));
  }
  if (states > spec_.batch) {
    detail::refuse(similarity_sums_stage, "this plan evaluates at most " +
                                              std::to_string(spec_.batch) + " states at once");
  }
}

void SimilaritySumsPlan::enqueue(Stream& stream, const SimilarityImages& images,
                                 std::span<const SimilarityState> states,
                                 detail::Results<float>& partials, std::size_t first) const {
  check_residency(false);
  detail::check_stream(similarity_sums_stage, device_, stream);
  check_states(images, states.size());
  check_room(first + states.size() * partial_count(), partials);
  std::array<SimilarityState, max_batch> normalized;
  for (std::size_t i = 0; i < states.size(); ++i) {
    check_state(states[i]);
    detail::check_matrix(pair_of(spec_), states[i].matrix);
    normalized[i] = states[i];
    normalized[i].matrix = detail::normalized(states[i].matrix, spec_.reference);
  }
  if (states.empty()) return;
  kernel_->enqueue(detail::Access::queue(stream), detail::memory_of(images),
                   std::span(normalized).first(states.size()), partials.memory(), first);
}

backend::ResidentSums SimilaritySumsPlan::resident(const SimilarityImages& images,
                                                   std::size_t first_state, std::size_t count,
                                                   std::size_t first) const {
  check_residency(true);
  check_states(images, count);
  if (count == 0) detail::refuse(similarity_sums_stage, "there are no states");
  return {kernel_.get(), detail::memory_of(images), first_state, count, first, partial_count()};
}

void SimilaritySumsPlan::enqueue_resident(Stream& stream,
                                          std::span<const backend::ResidentSums> sums,
                                          const Buffer& states, detail::Results<float>& partials) {
  if (sums.empty()) return;
  for (const backend::ResidentSums& one : sums) {
    detail::check_buffer(similarity_sums_stage, "the states", stream.device(), states,
                         (one.first_state + one.count) * sizeof(ResidentState));
    check_room(one.first + one.count * one.length, partials);
  }
  sums.front().stage->enqueue_resident(detail::Access::queue(stream), sums,
                                       detail::Access::memory(states), partials.memory());
}

void SimilaritySumsPlan::enqueue_resident(Stream& stream, const SimilarityImages& images,
                                          const Buffer& states, std::size_t first_state,
                                          std::size_t count, detail::Results<float>& partials,
                                          std::size_t first) const {
  const backend::ResidentSums own = resident(images, first_state, count, first);
  enqueue_resident(stream, {&own, 1}, states, partials);
}

void SimilaritySumsPlan::add_up(std::span<const float> partials,
                                std::span<SimilaritySumsResult> results) const {
  const std::size_t length = partial_count();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Sums sums =
        sums_of(partials.subspan(i * length, length), sum_count(spec_), kernel_->groups());
    results[i] = named(sums, spec_.projective ? 8 : 4);
  }
}

}  // namespace warpalign
