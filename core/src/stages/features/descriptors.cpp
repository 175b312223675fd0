// Stage: gradient histograms around keypoints.
#include <warpalign/backend/stages/features/descriptors.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/features/packed_planes.hpp"
#include "stages/uploaded.hpp"

namespace warpalign {

namespace {

constexpr const char* descriptors_stage = "descriptors";
// Of two directions each, as int32 counts.
constexpr std::int64_t most_places = std::int64_t{1} << 30U;

DescriptorsSpec checked(const DescriptorsSpec& spec) {
  detail::check_planes(descriptors_stage, spec.planes, 1);
  return spec;
}

}  // namespace

DescriptorsPlan::DescriptorsPlan(const Device& device, const DescriptorsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      planes_(detail::uploaded(device, detail::words_of(spec.planes))) {}

void DescriptorsPlan::check(const Stream& stream, const Buffer& octave, const Buffer& keypoints,
                            const KeypointRange& range) const {
  detail::check_stream(descriptors_stage, device_, stream);
  if (range.first < 0 || range.count < 1 || range.first > most_places ||
      range.count > most_places - range.first) {
    detail::refuse(descriptors_stage, "the range of keypoints is empty or out of bounds");
  }
  detail::check_buffer(descriptors_stage, "the octave", device_, octave,
                       detail::packed_bytes(spec_.planes, 1));
  detail::check_buffer(descriptors_stage, "the buffer of keypoints", device_, keypoints,
                       static_cast<std::size_t>(range.first + range.count) * sizeof(Keypoint));
}

void DescriptorsPlan::find_orientations(Stream& stream, const Buffer& octave,
                                        const Buffer& keypoints, const KeypointRange& range,
                                        Buffer& radians) const {
  check(stream, octave, keypoints, range);
  const auto numbers = static_cast<std::size_t>((range.first + range.count) * max_orientations);
  detail::check_buffer(descriptors_stage, "the buffer of orientations", device_, radians,
                       numbers * sizeof(float));
  kernel_->enqueue_directions(detail::Access::queue(stream), detail::Access::memory(octave),
                              detail::Access::memory(planes_), detail::Access::memory(keypoints),
                              range, detail::Access::memory(radians));
}

void DescriptorsPlan::describe(Stream& stream, const Buffer& octave, const Buffer& keypoints,
                               const KeypointRange& range, Buffer& descriptors) const {
  check(stream, octave, keypoints, range);
  const auto numbers = static_cast<std::size_t>((range.first + range.count) * dimensions);
  detail::check_buffer(descriptors_stage, "the descriptors", device_, descriptors,
                       numbers * sizeof(float));
  kernel_->enqueue_descriptors(detail::Access::queue(stream), detail::Access::memory(octave),
                               detail::Access::memory(planes_), detail::Access::memory(keypoints),
                               range, detail::Access::memory(descriptors));
}

}  // namespace warpalign
