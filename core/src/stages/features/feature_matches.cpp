// Stage: the nearest neighbours of features of one image among the features of another.
#include <warpalign/backend/stages/features/feature_matches.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <warpalign/backend/stages/features/descriptors.hpp>

namespace warpalign {

namespace {

constexpr const char* feature_matches_stage = "feature_matches";
constexpr std::int64_t most_features = 1 << 16U;

FeatureMatchesSpec checked(const FeatureMatchesSpec& spec) {
  for (const std::int64_t count : {spec.max_reference, spec.max_moving}) {
    if (count < 1 || count > most_features) {
      detail::refuse(feature_matches_stage, "the largest number of features must be 1 to 65536");
    }
  }
  if (!(spec.max_ratio > 0))
    detail::refuse(feature_matches_stage, "the largest ratio must be above 0");
  return spec;
}

std::size_t bytes_of_slices(const FeatureMatchesSpec& spec) {
  return static_cast<std::size_t>(spec.max_reference * backend::slices_of(spec.max_moving)) *
         sizeof(NearestFeature);
}

}  // namespace

FeatureMatchesPlan::FeatureMatchesPlan(const Device& device, const FeatureMatchesSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      best_of_slices_(std::make_shared<Buffer>(device.make_buffer(bytes_of_slices(spec)))) {}

void FeatureMatchesPlan::execute(Stream& stream, const Features& reference, const Features& moving,
                                 const Buffer& moving_positions, float apart,
                                 Buffer& nearest) const {
  detail::check_stream(feature_matches_stage, device_, stream);
  if (reference.count < 1 || reference.count > spec_.max_reference || moving.count < 1 ||
      moving.count > spec_.max_moving) {
    detail::refuse(feature_matches_stage,
                   "the number of features must be at least 1, and at most that of the plan");
  }
  if (!(apart >= 0))
    detail::refuse(feature_matches_stage, "the distance `apart` must be at least 0");
  const auto rows = [](std::int64_t count) {
    return static_cast<std::size_t>(count * DescriptorsPlan::dimensions) * sizeof(float);
  };
  detail::check_buffer(feature_matches_stage, "the reference's descriptors", device_,
                       reference.descriptors, rows(reference.count));
  detail::check_buffer(feature_matches_stage, "the moving descriptors", device_, moving.descriptors,
                       rows(moving.count));
  detail::check_buffer(feature_matches_stage, "the buffer of moving positions", device_,
                       moving_positions,
                       static_cast<std::size_t>(2 * moving.count) * sizeof(float));
  detail::check_buffer(feature_matches_stage, "the matches", device_, nearest,
                       static_cast<std::size_t>(reference.count) * sizeof(NearestFeature));
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(reference.descriptors), reference.count},
                   {detail::Access::memory(moving.descriptors), moving.count},
                   detail::Access::memory(moving_positions), apart,
                   detail::Access::memory(*best_of_slices_), detail::Access::memory(nearest));
}

}  // namespace warpalign
