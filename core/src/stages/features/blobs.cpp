// Stage: extrema of differences of Gaussians.
#include <warpalign/backend/stages/features/blobs.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/features/packed_planes.hpp"
#include "stages/uploaded.hpp"

#include <limits>

namespace warpalign {

namespace {

constexpr const char* blobs_stage = "blobs";
constexpr std::int64_t min_images = 4;  // three differences: one between two others

BlobsSpec checked(const BlobsSpec& spec) {
  if (spec.images < min_images) {
    detail::refuse(blobs_stage,
                   "an octave needs at least 4 images, not " + std::to_string(spec.images));
  }
  detail::check_planes(blobs_stage, spec.planes, spec.images);
  if (spec.capacity < 1 || spec.capacity > std::numeric_limits<std::int32_t>::max()) {
    detail::refuse(blobs_stage, "the capacity must be 1 to 2^31 - 1 blobs");
  }
  if (!(spec.least_contrast >= 0))
    detail::refuse(blobs_stage, "the smallest contrast must be at least 0");
  return spec;
}

}  // namespace

BlobsPlan::BlobsPlan(const Device& device, const BlobsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      planes_(detail::uploaded(device, detail::words_of(spec.planes))) {}

void BlobsPlan::measure(Stream& stream, const Buffer& octave, Buffer& deviations) const {
  detail::check_stream(blobs_stage, device_, stream);
  detail::check_buffer(blobs_stage, "the octave", device_, octave,
                       detail::packed_bytes(spec_.planes, 1));
  detail::check_buffer(blobs_stage, "the deviations", device_, deviations,
                       spec_.planes.size() * sizeof(float));
  kernel_->enqueue_deviations(detail::Access::queue(stream), detail::Access::memory(octave),
                              detail::Access::memory(planes_), detail::Access::memory(deviations));
}

void BlobsPlan::execute(Stream& stream, const Buffer& octave, const Buffer& deviations,
                        std::int32_t number, Buffer& count, Buffer& blobs) const {
  detail::check_stream(blobs_stage, device_, stream);
  detail::check_buffer(blobs_stage, "the octave", device_, octave,
                       detail::packed_bytes(spec_.planes, spec_.images));
  detail::check_buffer(blobs_stage, "the deviations", device_, deviations,
                       spec_.planes.size() * sizeof(float));
  detail::check_buffer(blobs_stage, "the count", device_, count, sizeof(std::int32_t));
  detail::check_buffer(blobs_stage, "the blobs", device_, blobs,
                       static_cast<std::size_t>(spec_.capacity) * sizeof(Blob));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(octave),
                   detail::Access::memory(planes_), detail::Access::memory(deviations), number,
                   detail::Access::memory(count), detail::Access::memory(blobs));
}

}  // namespace warpalign
